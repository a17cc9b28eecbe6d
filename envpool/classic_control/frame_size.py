"""The check of the frame size that several classic control environments share."""

from envpool.errors import ConfigError


def check_square(height: int, width: int) -> None:
    """Raise ConfigError unless the frame is square, since upstream draws only square frames of this environment."""
    if height != width:
        raise ConfigError(
            f"frames of this task must be square, got render_width={width} and render_height={height}: pass the same "
            "number for both"
        )
