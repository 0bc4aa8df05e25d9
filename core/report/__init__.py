"""What goes to somebody without the app? Reports that open anywhere, tables as files, and what recreates a run."""
