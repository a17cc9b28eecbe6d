"""``python -m envpool``: the same as the command ``envpool``."""

import sys

from envpool.cli.main import main

sys.exit(main())
