"""What all rooms may use: the machine, locks, packages, text of errors, windows."""
