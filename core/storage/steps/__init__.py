"""The steps of the schema ladder, one module each, in the order of their numbers."""
