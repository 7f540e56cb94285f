"""Task graphs: steps under assumptions, dependencies, checks, layout, formats, model help, comparison."""
