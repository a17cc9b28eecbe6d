"""gymnasium's own vector envs, as engines to compare with."""

from __future__ import annotations

import ctypes
import time
import warnings
from contextlib import ExitStack
from typing import Any

from envpool.cli.bench.loops import Slice, SyncLoop

#: AsyncVectorEnv starts a process for each env; beyond so many it is left out.
MAX_PROCESSES = 128
ROUNDS = 16


class GymnasiumLoop:
    """One vector env of gymnasium.

    Parameters
    ----------
    task_id : str
        Id in gymnasium.
    num_envs : int
        Number of envs.
    mode : {"sync", "async"}
        SyncVectorEnv or AsyncVectorEnv.
    """

    def __init__(self, task_id: str, num_envs: int, mode: str):
        import gymnasium

        self.env = gymnasium.make_vec(task_id, num_envs, vectorization_mode=mode)
        self.clocks = [cpu_clock_of(p.pid) for p in getattr(self.env.unwrapped, "processes", ())]
        self.env.reset(seed=0)
        self.env.action_space.seed(0)
        actions = [self.env.action_space.sample() for _ in range(ROUNDS)]
        self.loop = SyncLoop(self.env.step, actions, num_envs, self.cpu_seconds)

    def cpu_seconds(self) -> float:
        """CPU seconds used so far by this process and the env's."""
        return time.process_time() + sum(time.clock_gettime(clock) for clock in self.clocks)

    def run(self, seconds: float) -> Slice:
        """Step for `seconds`."""
        return self.loop.run(seconds)

    def close(self) -> None:
        """End the env and its processes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a step is under way, after Ctrl-C
            self.env.close(**({"terminate": True} if self.clocks else {}))


def open_peers(task_id: str, num_envs: int, stack: ExitStack) -> dict[str, GymnasiumLoop | str]:
    """Return gymnasium's vector envs for a task by name, or the reason why there is none.

    Parameters
    ----------
    task_id : str
        Task; gymnasium's has the same id.
    num_envs : int
        Number of envs.
    stack : ExitStack
        Closes them.
    """
    import gymnasium

    peers: dict[str, GymnasiumLoop | str] = {}
    for name, mode in (("gymnasium SyncVectorEnv", "sync"), ("gymnasium AsyncVectorEnv", "async")):
        if task_id not in gymnasium.registry:
            peers[name] = f"gymnasium has no task {task_id}"
        elif mode == "async" and num_envs > MAX_PROCESSES:
            peers[name] = f"left out: it would start {num_envs} processes, the most here is {MAX_PROCESSES}"
        else:
            peers[name] = open_peer(task_id, num_envs, mode, stack)
    return peers


def open_peer(task_id: str, num_envs: int, mode: str, stack: ExitStack) -> GymnasiumLoop | str:
    """Return one vector env, or why gymnasium cannot make it (a simulator that is not installed, say)."""
    import gymnasium

    try:
        peer = GymnasiumLoop(task_id, num_envs, mode)
    except (gymnasium.error.Error, ImportError) as error:
        return f"gymnasium cannot make {task_id}: {' '.join(str(error).split())}"
    stack.callback(peer.close)
    return peer


def cpu_clock_of(pid: int) -> Any:
    """Return the id of the clock that counts the CPU time of another process, for ``time.clock_gettime``."""
    clock = ctypes.c_int()
    failed = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if failed:
        raise OSError(failed, f"no CPU clock for process {pid}")
    return clock.value
