"""What only accuracies from few labels show: where they came from in a list of runs."""
