"""MuJoCo tasks: Gymnasium's (``gym``) and dm_control's (``dmc``), on a base that steps MuJoCo without the GIL."""
