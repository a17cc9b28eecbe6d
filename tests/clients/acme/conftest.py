"""Acme imports launchpad, which exists for Python 3.10 at most and only tells a loop of a signal to stop."""

import sys
from types import ModuleType

launchpad = ModuleType("launchpad")
launchpad.register_stop_handler = launchpad.unregister_stop_handler = lambda handler: None
sys.modules["launchpad"] = launchpad
