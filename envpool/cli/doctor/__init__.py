"""``envpool doctor``: what is installed, what the machine offers, and whether it works."""
