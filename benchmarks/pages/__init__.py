"""Web pages: how fast their visible text is taken, and how near it is to what a browser shows."""
