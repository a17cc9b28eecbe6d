"""Evaluations, videos and datasets of the episodes that a policy plays."""
