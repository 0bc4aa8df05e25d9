"""Results in, `go.Figure` out: nothing is computed here, and a figure's `alt_text` says what it shows."""
