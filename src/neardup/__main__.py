"""Run the command line as ``python -m neardup`` or ``neardup``."""

import sys

from neardup.version import __version__


def main() -> None:
    """Load and run the command line, also handling early interrupts."""
    # Answered without click, whose loading takes twice as long as Python's own start.
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"neardup, version {__version__}\n")
        return
    try:
        from neardup.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
