from typing_extensions import disjoint_base

@disjoint_base
class Statistics:
    def __init__(
        self,
        num_envs: int,
        counts_episodes: bool,
        games: tuple[int, int, int, bool] | None = None,
        num_players: int = 0,
    ) -> None: ...
    @property
    def steps(self) -> int: ...
    @property
    def resets(self) -> int: ...
