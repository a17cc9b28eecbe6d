"""The task table, and the way from a task id and options to a validated spec."""
