"""The command-line interface: ``envpool list``, ``envpool spec``, ``envpool bench`` and ``envpool watch``."""
