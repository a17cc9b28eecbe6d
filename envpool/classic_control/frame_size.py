"""What the pictures of several classic control envs need."""

from envpool.errors import ConfigError


def check_square(height: int, width: int) -> None:
    """Raise ConfigError for a picture that is not a square, which is all that upstream draws here."""
    if height != width:
        raise ConfigError(
            f"the picture is {width} x {height} (render_width x render_height), allowed are squares: give both the same"
        )
