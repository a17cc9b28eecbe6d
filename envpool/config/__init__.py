"""Options: names, values, checks, parameters, spaces."""
