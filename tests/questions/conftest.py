"""The toy question is code of another house: it is imported where a test puts it in, and not collected."""

collect_ignore = ["largest_class"]
