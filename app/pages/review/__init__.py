"""The Review page: reading and rating one output at a time, blind."""
