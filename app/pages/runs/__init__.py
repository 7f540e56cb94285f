"""The Runs page: letting a system write, watching it, stopping and resuming it."""
