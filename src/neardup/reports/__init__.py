"""Pages that show what was found and why: plain data in, one file of HTML out."""
