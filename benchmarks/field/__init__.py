"""An open benchmark of tools that find nearly the same text; see README.md."""
