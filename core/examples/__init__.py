"""Examples: instances of tasks, with input sections and reference output sections."""
