"""The Results page: means with intervals, plots, and the way down to each output."""
