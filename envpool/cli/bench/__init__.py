"""``envpool bench``: throughput, CPU time, and the share of what the bare kernels could give."""
