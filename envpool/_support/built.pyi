"""For what this build of the package was made."""

#: Whether only system calls are used that macOS has as well, see include/envpool/platform.h.
PORTABLE: bool
