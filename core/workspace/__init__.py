"""The workspace: what outlives a page. Data sets, runs and their rows, and the engine that works them off."""
