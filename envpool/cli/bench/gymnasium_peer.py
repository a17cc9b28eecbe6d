"""gymnasium's own vector envs, which ``envpool bench --compare gymnasium`` measures."""

from __future__ import annotations

import ctypes
import time
import warnings
from contextlib import ExitStack
from typing import Any

from envpool.cli.bench.loops import Slice, SyncLoop

#: Largest number of envs for which AsyncVectorEnv is measured, since it starts one process per env.
MAX_PROCESSES = 256
ROUNDS = 16


class GymnasiumLoop:
    """A timed loop over a vector env of gymnasium.

    Parameters
    ----------
    task_id : str
        Task id in gymnasium.
    num_envs : int
        Number of envs.
    mode : {"sync", "async"}
        "sync" makes a SyncVectorEnv, "async" an AsyncVectorEnv.
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
        """Return the CPU seconds used so far by this process and the processes of the env."""
        return time.process_time() + sum(time.clock_gettime(clock) for clock in self.clocks)

    def run(self, seconds: float) -> Slice:
        """Step for `seconds` and return what was done."""
        return self.loop.run(seconds)

    def close(self) -> None:
        """Close the env and end its processes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # after Ctrl-C, gymnasium warns that a step is pending
            self.env.close(**({"terminate": True} if self.clocks else {}))


def open_peers(task_id: str, num_envs: int, stack: ExitStack) -> dict[str, GymnasiumLoop | str]:
    """Return gymnasium's vector envs for a task by name, or the reason why one is unavailable.

    Parameters
    ----------
    task_id : str
        Task id, the same in both packages.
    num_envs : int
        Number of envs.
    stack : ExitStack
        Closes the vector envs when it exits.
    """
    import gymnasium

    peers: dict[str, GymnasiumLoop | str] = {}
    for name, mode in (("gymnasium SyncVectorEnv", "sync"), ("gymnasium AsyncVectorEnv", "async")):
        if task_id not in gymnasium.registry:
            peers[name] = f"gymnasium has no task {task_id}"
        elif mode == "async" and num_envs > MAX_PROCESSES:
            peers[name] = (
                f"left out: it would start {num_envs} processes, at most {MAX_PROCESSES} are allowed; compare it with "
                f"--num-envs {MAX_PROCESSES} or fewer"
            )
        else:
            peers[name] = open_peer(task_id, num_envs, mode, stack)
    return peers


def open_peer(task_id: str, num_envs: int, mode: str, stack: ExitStack) -> GymnasiumLoop | str:
    """Return one vector env, or why gymnasium cannot make it, e.g. because a simulator is not installed."""
    import gymnasium

    try:
        peer = GymnasiumLoop(task_id, num_envs, mode)
    except (gymnasium.error.Error, ImportError) as error:
        return f"gymnasium cannot make {task_id}: {' '.join(str(error).split())}"
    stack.callback(peer.close)
    return peer


def cpu_clock_of(pid: int) -> Any:
    """Return the id of the CPU-time clock of another process, for ``time.clock_gettime``."""
    clock = ctypes.c_int()
    failed = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if failed:
        raise OSError(failed, f"process {pid} has no CPU-time clock")
    return clock.value
