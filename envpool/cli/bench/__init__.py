"""``envpool bench``: throughput, CPU time, and the share of the kernel limit that a pool reaches."""
