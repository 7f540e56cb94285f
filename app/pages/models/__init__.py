"""The Models page: what is on this machine, what it is fit for, whether it is sound, what to import."""
