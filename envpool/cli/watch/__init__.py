"""``envpool watch``: several envs side by side, in a window or in a file."""
