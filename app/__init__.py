"""The application: command line and window, two faces of the same verbs."""
