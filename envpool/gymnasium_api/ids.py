"""Registers the tasks with gymnasium, as ``envpool/<task>``, without importing gymnasium.

Gymnasium allows one slash in an id, so that a slash in the id of a task becomes a hyphen.

Gymnasium 1.x does not discover plug-ins by itself. The ids are therefore registered as soon as both packages have been
imported: immediately if gymnasium is already imported, otherwise as the last step of its import. Tasks that are
registered later follow one by one: `install` subscribes to the registry.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from envpool.tasks.registry import registry

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib asks for the methods only, and importlib.abc takes milliseconds to import

NAMESPACE = "envpool"
ENTRY_POINT = "envpool.gymnasium_api.single_env:EnvPoolEnv"
VECTOR_ENTRY_POINT = "envpool.gymnasium_api.vector_env:EnvPoolVectorEnv"


def publish(task_ids: Iterable[str]) -> None:
    """Register tasks with gymnasium, or do nothing if gymnasium is not imported.

    Parameters
    ----------
    task_ids : iterable of str
        Task ids of this package. Ids that gymnasium does not allow are skipped.
    """
    registration = sys.modules.get("gymnasium.envs.registration")
    if registration is None or not hasattr(sys.modules.get("gymnasium"), "make_vec"):
        return
    for task_id in task_ids:
        name = f"{NAMESPACE}/{task_id.replace('/', '-')}"
        try:
            spec = registration.EnvSpec(
                id=name,
                entry_point=ENTRY_POINT,
                vector_entry_point=VECTOR_ENTRY_POINT,
                kwargs={"task_id": task_id},
            )
        except registration.error.Error:  # an id that gymnasium does not allow
            continue
        registration.registry[name] = spec


class _PublishingLoader(Loader):
    """Loads gymnasium with its own loader and registers the tasks afterwards."""

    def __init__(self, loader: Loader):
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        publish(list(registry.tasks))


class _Finder:
    """Notices the import of gymnasium. It may be looked for before, without being imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium" or "gymnasium" in sys.modules:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find and find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _PublishingLoader(spec.loader)
                return spec
        return None


def install() -> None:
    """Register all tasks as soon as gymnasium is imported.

    ``import envpool`` calls this function. Gymnasium may be importing envpool at that moment: ``gymnasium.make_vec``
    does so for an id such as ``"envpool:envpool/Catch-v0"``.
    """
    registry.on_register(publish)
    if "gymnasium" not in sys.modules:
        sys.meta_path.insert(0, _Finder())
    elif sys.modules["gymnasium"] is not None:
        import gymnasium  # waits for another thread that is importing it

        if hasattr(gymnasium, "make_vec"):
            publish(list(registry.tasks))
