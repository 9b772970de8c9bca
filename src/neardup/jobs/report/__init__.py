"""Reports: what pages show, gathered from results and from the texts that these name."""
