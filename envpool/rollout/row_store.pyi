from typing_extensions import disjoint_base

@disjoint_base
class RowStore:
    def __init__(self, row_bytes: int) -> None: ...
