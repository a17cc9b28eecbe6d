"""The command-line interface: the commands of ``envpool``, see `envpool.cli.main`."""
