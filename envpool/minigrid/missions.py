"""Missions: sentences that tell the agent what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.pools.styles.texts import Texts, decode


def decode_mission(mission: Any) -> Any:
    """Return missions as text.

    Parameters
    ----------
    mission : array_like of uint8
        The array ``mission`` of an observation, or its texts: ASCII, padded with zeros, uint8 (mission_bytes,) for one
        environment or (..., mission_bytes) for several.

    Returns
    -------
    str or numpy.ndarray
        One mission as str; several as an object array of str with the shape of `mission` without its last axis.

    Raises
    ------
    TypeError
        `mission` is not an array of uint8 with at least one axis.
    """
    rows = np.asarray(mission.rows if isinstance(mission, Texts) else mission)
    if rows.dtype != np.uint8 or rows.ndim == 0:
        raise TypeError(
            f"mission must be an array of uint8 with at least one axis, such as obs['mission'], got {rows.dtype} of "
            f"shape {rows.shape}"
        )
    texts = [decode(row) for row in rows.reshape(-1, rows.shape[-1])]
    if rows.ndim == 1:
        return texts[0]
    out = np.empty(len(texts), object)
    out[:] = texts
    return out.reshape(rows.shape[:-1])
