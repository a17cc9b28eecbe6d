"""A pool of pools on Ray: every actor has some of the environments."""

from __future__ import annotations

from envpool.adapters.ray.ray_pool import RayPool as RayPool
from envpool.adapters.ray.rollouts import ActorRollout as ActorRollout
