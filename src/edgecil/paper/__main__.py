"""`python -m edgecil.paper`."""

import sys

from edgecil.cli import start

if __name__ == "__main__":
    sys.exit(start("paper"))
