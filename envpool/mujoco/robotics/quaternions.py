"""Rotations of batches of goals, as ``gymnasium_robotics.utils.rotations`` rotates single goals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

EPS = np.finfo(np.float64).eps


def euler2mat(euler: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of Euler angles (..., 3)."""
    ai, aj, ak = -euler[..., 2], -euler[..., 1], -euler[..., 0]
    si, sj, sk = np.sin(ai), np.sin(aj), np.sin(ak)
    ci, cj, ck = np.cos(ai), np.cos(aj), np.cos(ak)
    cc, cs, sc, ss = ci * ck, ci * sk, si * ck, si * sk
    rows = [cj * ci, cj * si, -sj], [sj * cs - sc, sj * ss + cc, cj * sk], [sj * cc + ss, sj * sc - cs, cj * ck]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def mat2euler(mat: Array) -> Array:
    """Return Euler angles (..., 3) of rotation matrices (..., 3, 3)."""
    cy = np.sqrt(mat[..., 2, 2] * mat[..., 2, 2] + mat[..., 1, 2] * mat[..., 1, 2])
    is_regular = cy > 4 * EPS
    first = np.where(is_regular, -np.arctan2(mat[..., 1, 2], mat[..., 2, 2]), 0.0)
    second = -np.arctan2(-mat[..., 0, 2], cy)
    regular = -np.arctan2(mat[..., 0, 1], mat[..., 0, 0])
    third = np.where(is_regular, regular, -np.arctan2(-mat[..., 1, 0], mat[..., 1, 1]))
    return np.stack([first, second, third], axis=-1)


def quat2mat(quat: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4); the identity for a quaternion of zeros."""
    w, x, y, z = (quat[..., i] for i in range(4))
    norm = np.sum(quat * quat, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = 2.0 / norm
        xs, ys, zs = x * s, y * s, z * s
        rows = (
            [1.0 - (y * ys + z * zs), x * ys - w * zs, x * zs + w * ys],
            [x * ys + w * zs, 1.0 - (x * xs + z * zs), y * zs - w * xs],
            [x * zs - w * ys, y * zs + w * xs, 1.0 - (x * xs + y * ys)],
        )
        mat = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return np.where((norm > EPS)[..., np.newaxis, np.newaxis], mat, np.eye(3))


def quat2euler(quat: Array) -> Array:
    """Return Euler angles (..., 3) of quaternions (..., 4)."""
    return mat2euler(quat2mat(quat))


def euler2quat(euler: Array) -> Array:
    """Return quaternions (..., 4) of Euler angles (..., 3)."""
    ai, aj, ak = euler[..., 2] / 2, -euler[..., 1] / 2, euler[..., 0] / 2
    si, sj, sk = np.sin(ai), np.sin(aj), np.sin(ak)
    ci, cj, ck = np.cos(ai), np.cos(aj), np.cos(ak)
    cc, cs, sc, ss = ci * ck, ci * sk, si * ck, si * sk
    return np.stack([cj * cc + sj * ss, cj * cs - sj * sc, -(cj * ss + sj * cc), cj * sc - sj * cs], axis=-1)


def angles_between(quat: Array, other: Array) -> Array:
    """Return the angles (...) between orientations, given as quaternions (..., 4)."""
    w0, x0, y0, z0 = (quat[..., i] for i in range(4))
    w1, x1, y1, z1 = other[..., 0], -other[..., 1], -other[..., 2], -other[..., 3]
    angles: Array = 2 * np.arccos(np.clip(w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1, -1.0, 1.0))
    return angles


def parallel_quats() -> list[Array]:
    """Return the 24 orientations in which an object is parallel to the axes, in the order of upstream."""
    right = np.pi / 2
    found: list[Array] = []
    for euler in itertools.product([0, right, -right, np.pi], repeat=3):
        quarters = np.round(mat2euler(euler2mat(np.array(euler))) / right)
        for i in (0, 2):
            if quarters[i] == -2:
                quarters[i] = 2
        angles = quarters * right
        if all((angles != other).any() for other in found):
            found.append(angles)
    return [euler2quat(angles) for angles in found]
