"""What near-copies are estimated to be there, from sketches alone."""
