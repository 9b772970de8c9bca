"""Run the command line: with ``python -m neardup``, and as the command ``neardup``."""

import sys


def main() -> None:
    """Load the command line and run it; an interrupt while it loads ends it, too."""
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
