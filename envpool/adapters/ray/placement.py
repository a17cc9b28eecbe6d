"""Where the actors of a pool run: on which node of the cluster, and on which NUMA node of its machine."""

from __future__ import annotations

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from envpool._support.text import shown
from envpool.errors import ConfigError

PLACEMENTS = ("node", "numa", "any")


def nodes() -> list[str]:
    """Return the ids of the nodes that are alive and have CPUs, always in one order."""
    return sorted(node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))


class Placement:
    """Deals actors to nodes.

    Parameters
    ----------
    kind : {"node", "numa", "any"}
        "node": actor k runs on node k modulo the number of nodes, as long as that node is alive. "numa": in addition,
        the actors of a node are bound to its NUMA nodes in turn. "any": Ray decides.
    """

    def __init__(self, kind: str):
        if kind not in PLACEMENTS:
            raise ConfigError(f"placement must be one of {', '.join(map(repr, PLACEMENTS))}, got {shown(kind)}")
        self.kind = kind
        self.nodes = nodes()

    def options(self, index: int) -> dict[str, Any]:
        """Return Ray's options for an actor."""
        if self.kind == "any":
            return {}
        node = self.nodes[index % len(self.nodes)]
        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node_id=node, soft=True)}

    def numa_index(self, index: int) -> int | None:
        """Return the number of an actor among those of its node, or None if it is not bound to a NUMA node."""
        return index // len(self.nodes) if self.kind == "numa" else None
