"""The command line: ``envpool list``, ``envpool spec`` and ``envpool bench``."""
