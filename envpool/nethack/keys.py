"""The keys that actions press: upstream's ``ACTIONS`` and ``USEFUL_ACTIONS`` of its commands, and ``TASK_ACTIONS``."""

from __future__ import annotations


def parse(names: str) -> tuple[int, ...]:
    """Return the keys with these names: a character, ``C-`` for Ctrl, ``M-`` for Meta, and ``SPACE``."""
    return tuple(key_of(name) for name in names.split())


def key_of(name: str) -> int:
    """Return the key with a name, 0 to 255."""
    if name == "SPACE":
        return ord(" ")
    if name.startswith("C-"):
        return ord(name[2]) & 0x1F
    return ord(name[2]) | 0x80 if name.startswith("M-") else ord(name)


#: The 121 keys of the challenge. Keys that are both a command and text occur twice.
ALL_KEYS = parse(r"""
k l j h u n b y K L J H U N B Y < > . C-m # M-? M-a M-A a C-x @ C Z M-c c M-C M-d d D e E M-e C-[ F f M-f ; V i I
M-i M-j C-d \ ` : M-l M-m m M M-o o O C-o p , M-p P q M-q Q r C-r R M-R M-r g G S s * " [ $ = + ( ^ ) ! M-s x T A
C-t t M-T _ M-t X M-u M-v v W & / w M-w z + - SPACE ' " 0 1 2 3 4 5 6 7 8 9 $
""")

#: The 86 keys of NetHack-v0: without keys that have no effect on the game or end it.
USEFUL_KEYS = parse(r"""
k l j h u n b y K L J H U N B Y < > . C-m M-a a C-x C Z M-c c M-d d D e E M-e C-[ F f M-f i I M-i M-j C-d : M-l M-m
m M M-o o p , M-p P q Q r R M-R M-r g G s [ = ( ^ ) ! M-s x T A t M-T M-t X M-u v W w M-w z + " $ SPACE
""")

#: The 23 keys of the other tasks: Enter, moves, stairs, waiting, kicking, eating and searching.
TASK_KEYS = parse("C-m k l j h u n b y K L J H U N B Y < > . C-d e s")
