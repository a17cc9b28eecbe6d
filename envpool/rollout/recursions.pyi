from typing import Any

GAE: int
VTRACE: int
LAMBDA: int
NSTEP: int

def recur(
    recursion: int,
    arrays: dict[str, Any],
    gamma: float,
    lam: float,
    clips: tuple[float, float, float],
    horizon: int,
    threads: int,
) -> bool: ...
