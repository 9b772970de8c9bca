"""Run the command line with ``python -m neardup``."""

from neardup.cli import main

main()
