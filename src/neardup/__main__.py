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
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps an interrupt that comes while a class is made.
        if KeyboardInterrupt not in (type(error), type(error.__cause__)):
            raise
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
