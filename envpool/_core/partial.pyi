from typing_extensions import disjoint_base

from envpool._core.handle import Handle

@disjoint_base
class Shelf(Handle): ...
