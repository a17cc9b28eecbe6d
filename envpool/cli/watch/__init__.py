"""``envpool watch``: shows a policy in several envs side by side, in a window or in a file."""
