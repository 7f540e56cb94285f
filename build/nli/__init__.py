"""Training, calibration, export and evaluation of the entailment model that is shipped; not installed."""
