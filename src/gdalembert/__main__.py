"""``python -m gdalembert``: the command line."""

import sys

from gdalembert.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
