"""The canvas on which graphs are drawn: a document over the workspace's rows, and views of it."""
