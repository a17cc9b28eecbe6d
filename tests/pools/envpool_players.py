"""Records the arrays of EnvPool's tasks with several players: run it where EnvPool 1.2.5 is installed.

python tests/pools/envpool_players.py tests/pools/envpool_players.json
"""

import json
import sys

import numpy as np

import envpool

TASKS = ["ConnectFour-v1", "KuhnPoker-v1", "Backgammon-v1", "Chess-v1", "IntersectionMultiAgent-v1"]
NUM_ENVS = 3


def arrays(specs):
    """Return dtype and shape of each array of a spec, by name."""
    return {name: [np.dtype(spec.dtype).name, list(spec.shape)] for name, spec in specs.items()}


def forms(nest, name=""):
    """Return dtype and shape of each array of a result, by its path."""
    if isinstance(nest, dict) or hasattr(nest, "_fields"):
        parts = nest.items() if isinstance(nest, dict) else nest._asdict().items()
        return {k: v for key, part in parts for k, v in forms(part, f"{name}.{key}" if name else key).items()}
    return {name: [nest.dtype.name, list(nest.shape)]}


def record(task):
    """Return what a task returns."""
    spec = envpool.make_spec(task)
    found = {
        "max_num_players": spec.config.max_num_players,
        "state": arrays(spec.state_array_spec),
        "action": arrays(spec.action_array_spec),
    }
    env = envpool.make(task, env_type="gymnasium", num_envs=NUM_ENVS)
    obs, info = env.reset()
    found["reset"] = forms({"obs": obs, "info": info})
    owners, action = info["players"]["env_id"], np.zeros(NUM_ENVS, np.int32)
    if "legal_action_mask" in info:
        action = info["legal_action_mask"].argmax(1).astype(np.int32)
    names = ("obs", "reward", "terminated", "truncated", "info")
    found["step"] = forms(dict(zip(names, env.step(action[owners]), strict=True)))
    found["dm"] = forms(envpool.make(task, env_type="dm", num_envs=NUM_ENVS).reset())
    return found


if __name__ == "__main__":
    if hasattr(envpool, "make_python"):
        raise SystemExit("this is not EnvPool: run the program where only EnvPool 1.2.5 can be imported")
    with open(sys.argv[1], "w") as file:
        json.dump({task: record(task) for task in TASKS}, file, indent=1)
        file.write("\n")
