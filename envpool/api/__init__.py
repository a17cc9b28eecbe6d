"""API styles: each names the arrays of a finished batch, nothing more."""
