"""The command-line interface: ``envpool list``, ``spec``, ``bench``, ``watch``, ``verify`` and ``doctor``."""
