"""The Queue page: one's own review work and where it stands."""
