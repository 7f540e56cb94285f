"""Windows and what frames the pages: welcome, bars, rail, lock, palette, help."""
