"""Local models behind the ports of `core.ports`, each in a child process of its own."""
