"""Making the tasks known to gymnasium, as ``envpool/<task>``, without importing it.

Gymnasium 1.x has no plug-ins that it finds by itself. So ids are registered when both packages have been imported, in
whatever order: at once where gymnasium is there already, else as the last step of its import.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

NAMESPACE = "envpool"
ENTRY_POINT = "envpool.vector_env:EnvPoolVectorEnv"


def publish(task_ids: Iterable[str]) -> None:
    """Register tasks with gymnasium; does nothing while that is not imported.

    Parameters
    ----------
    task_ids : iterable of str
        Ids under which the tasks are known here. What cannot be an id of gymnasium is left out.
    """
    registration = sys.modules.get("gymnasium.envs.registration")
    if registration is None or not hasattr(sys.modules.get("gymnasium"), "make_vec"):
        return
    for task_id in task_ids:
        name = f"{NAMESPACE}/{task_id}"
        if "/" not in task_id and registration.ENV_ID_RE.fullmatch(name):
            registration.registry[name] = registration.EnvSpec(
                id=name, vector_entry_point=ENTRY_POINT, kwargs={"task_id": task_id}
            )


class _ThenPublish(Loader):
    """Loads gymnasium as its own loader would, then registers the tasks."""

    def __init__(self, loader: Loader):
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        publish_all()


class _Finder(MetaPathFinder):
    """Notices the import of gymnasium, once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenPublish(spec.loader)
        return spec


def publish_all() -> None:
    """Register all tasks that there are."""
    from envpool.registration import list_all_envs

    publish(list_all_envs())


def install() -> None:
    """Register all tasks as soon as gymnasium is imported; called by ``import envpool``, also by gymnasium itself."""
    if hasattr(sys.modules.get("gymnasium"), "make_vec"):
        publish_all()
    elif "gymnasium" not in sys.modules:
        sys.meta_path.insert(0, _Finder())
