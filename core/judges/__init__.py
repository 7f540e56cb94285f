"""Judges that are language models: pairs in both orders, ratings on five axes, and what sways them."""
