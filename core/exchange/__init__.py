"""Exchange with the outside: reading published and own formats, and writing them back without loss."""
