"""``python -m gdalembert``: the command line."""

import sys

from gdalembert.cli.main import main

sys.exit(main())
