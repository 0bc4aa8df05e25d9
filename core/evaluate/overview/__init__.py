"""What do all methods say of the same samples? Weak groups and classes, and whether the methods agree."""
