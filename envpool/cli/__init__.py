"""The command line: ``envpool list``, ``envpool spec``, ``envpool bench`` and ``envpool watch``."""
