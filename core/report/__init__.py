"""Reports for reading: one file that needs nothing else."""
