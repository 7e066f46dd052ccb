"""Entry point of `python -m kbd`, which is the command `kbd`."""

import sys

from kbd.cli import main

if __name__ == "__main__":
    sys.exit(main())
