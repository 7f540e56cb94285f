"""Support for a claim: entailment over windows and sentences, and exact checks that need no model."""
