"""Transforms of observations, rewards and actions, which are options of every task; see docs/transforms.md."""
