"""`python -m edgecil.lab`."""

import sys

from edgecil.cli import start

if __name__ == "__main__":
    sys.exit(start("lab"))
