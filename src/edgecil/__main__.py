"""`python -m edgecil`."""

import sys

from edgecil.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
