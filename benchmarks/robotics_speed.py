"""Compare pools of Gymnasium-Robotics' tasks with upstream's environments, and with MuJoCo alone.

    python benchmarks/robotics_speed.py [--quick] [--json FILE]

A pool of 64 environments with two threads, one environment of upstream, and MuJoCo alone run in turns. The first two
play random actions. Upstream's environment is the one of ``gymnasium.make`` without the environment checker, and it is
reset after each episode. MuJoCo alone repeats the calls of ``mujoco.mj_step`` that 200 steps of upstream have made,
each from the state in which upstream made it, and does nothing else. Figures are medians over the turns: steps per
second, the ratio of the first two, and ratios of the CPU time of all threads per step: upstream to envpool, upstream to
MuJoCo alone, and envpool to MuJoCo alone.
"""

from unittest import mock

import numpy as np
from upstream_speed import compare, compare_all, parse, write

from envpool.cli.bench.loops import SyncLoop
from envpool.mujoco.base.model import import_with_bindings
from envpool.mujoco.robotics.upstream import upstream_of

SIZES = {"num_envs": 64, "num_threads": 2}
RECORDED = 200
TASKS = ("FetchReach-v4", "FetchPush-v4", "FetchPickAndPlace-v4", "FetchSlide-v4", "HandReach-v3")
TASKS += tuple(f"HandManipulate{name}-v1" for name in ("Block", "Egg", "Pen", "Block_ContinuousTouchSensors"))
TASKS += ("PointMaze_UMaze-v3", "PointMaze_Large-v3", "AntMaze_UMaze-v5", "AntMaze_Large_Diverse_GR-v5")
TASKS += (*(f"AdroitHand{name}-v1" for name in ("Door", "Hammer", "Pen", "Relocate")), "FrankaKitchen-v1")


def mujoco_loop(env):
    """Return a loop over the calls of ``mj_step`` that steps of upstream's environment make, one in each step."""
    mujoco = import_with_bindings("mujoco")
    mj_step, everything = mujoco.mj_step, mujoco.mjtState.mjSTATE_INTEGRATION
    calls = []

    def recorded(model, data, nstep=1):
        state = np.empty(mujoco.mj_stateSize(model, everything))
        mujoco.mj_getState(model, data, state, everything)
        calls.append((state, nstep))
        mj_step(model, data, nstep)

    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(RECORDED):
        with mock.patch.object(mujoco, "mj_step", recorded):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    assert len(calls) == RECORDED, f"{RECORDED} steps of {env} have called mj_step {len(calls)} times"
    model = env.unwrapped.model
    data = mujoco.MjData(model)

    def step(call):
        state, nstep = call
        mujoco.mj_setState(model, data, state, everything)
        mj_step(model, data, nstep)

    return SyncLoop(step, calls, 1)


def compare_task(task, seconds):
    """Return the row of a task."""
    env = upstream_of(task).make()
    return compare(task, env, seconds, {"mujoco": mujoco_loop(env)}, **SIZES)


def main():
    """Print the table, and write it if asked to."""
    arguments = parse(__doc__)
    seconds = 1.0 if arguments.quick else 10.0
    rows = compare_all(TASKS, lambda task: compare_task(task, seconds), others=("mujoco",))
    write(arguments, upstream=rows)


if __name__ == "__main__":
    main()
