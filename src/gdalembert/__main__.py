"""``python -m gdalembert``: the command line."""

import sys

from gdalembert.cli import main

sys.exit(main())
