"""Run the command line: with ``python -m neardup``, and as the command ``neardup``."""

import sys

from neardup.version import __version__


def main() -> None:
    """Load the command line and run it; an interrupt while it loads ends it, too."""
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
