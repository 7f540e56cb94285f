"""Controls that pages share. Each has a name for assistive tools and follows theme and text size."""
