"""What does the command line take and say? Options for files and their columns, and the comparison of two files."""
