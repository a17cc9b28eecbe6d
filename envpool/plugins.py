"""Tasks of other packages, which a package announces with an entry point of the group ``envpool.envs``.

The value of an entry point is a module that registers tasks when it is imported, or ``module:function`` for a function
without arguments that registers them. Entry points are loaded when all tasks are listed, and when a task is asked for
that is not registered.
"""

from __future__ import annotations

import warnings
from functools import cache

GROUP = "envpool.envs"


@cache
def load_plugins() -> None:
    """Load the entry points, once in a process; one that cannot be loaded becomes a warning."""
    from importlib.metadata import entry_points  # a third of the time of `import envpool`, which does not need it

    for point in entry_points(group=GROUP):
        try:
            loaded = point.load()
            if point.attr:
                loaded()
        except Exception as error:
            warnings.warn(
                f"the entry point {point.name!r} ({point.value}) of the group {GROUP!r} cannot be loaded, so that its "
                f"tasks are missing: {type(error).__name__}: {error}",
                stacklevel=2,
            )
