"""The Drafts page: from evidence to a post-edited example."""
