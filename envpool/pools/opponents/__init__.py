"""Pools that play some of the players themselves: those that the option `controlled` does not name."""
