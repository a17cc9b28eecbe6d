"""What a policy achieves, and what it does: evaluations, videos and datasets of the episodes that it plays."""
