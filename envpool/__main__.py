"""``python -m envpool`` runs the command ``envpool``."""

import sys

from envpool.cli.main import main

sys.exit(main())
