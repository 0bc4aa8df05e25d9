"""What works runs off: workers, the runner that feeds them, and the lease that says whose a run is."""
