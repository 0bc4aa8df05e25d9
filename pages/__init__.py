"""One question each: the pages that the app draws, by file."""
