"""`python -m kbd` is `kbd`."""

import sys

from kbd.cli import main

if __name__ == "__main__":
    sys.exit(main())
