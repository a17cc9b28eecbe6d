"""MuJoCo tasks: Gymnasium's (``gym``), on a common base (``base``) that steps MuJoCo without the GIL."""
