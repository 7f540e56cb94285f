"""The editing benchmark: EditEval's tasks, instructions, formats, baselines and tables."""
