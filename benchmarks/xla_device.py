"""Step a pool in compiled code of JAX on a GPU and on the CPU: equality of the results, and time of the transfers.

    python benchmarks/xla_device.py [--steps 200] [--turns 5]

Every task is stepped with the same seed and the same actions by one lax.scan under jit, on each device. The results of
the GPU must have the bits of those of the CPU. The difference of the times of a step is what the copies between the
memories take, since the environments are the same.
"""

import argparse
import time
from statistics import median

import jax
import numpy as np

import envpool

#: Task and number of environments.
TASKS = {"CartPole-v1": 4096, "HalfCheetah-v5": 64, "Pong-v5": 64}


def play(device, task, num_envs, steps, turns):
    """Return all results of the first turn, the median of the seconds per step, and the bytes of a batch."""
    with jax.default_device(device), envpool.make_gymnasium(task, num_envs=num_envs, seed=3) as pool:
        actions = np.stack([pool.sample_actions(np.random.default_rng(t)) for t in range(steps)])
        handle, _, _, step = pool.xla()
        pool.async_reset()
        pool.recv()
        run = jax.jit(lambda handle, actions: jax.lax.scan(lambda h, a: step(h, a), handle, actions))
        times, first = [], None
        for _ in range(turns + 1):  # the first one compiles
            start = time.perf_counter()
            handle, results = jax.block_until_ready(run(handle, actions))
            times.append((time.perf_counter() - start) / steps)
            first = first or [np.asarray(leaf) for leaf in jax.tree.leaves(results)]
            assert all(leaf.devices() == {device} for leaf in jax.tree.leaves(results))
    return first, median(times[1:]), sum(leaf.nbytes for leaf in first) // steps


def measure(steps=200, turns=5):
    """Print a line per task; return the times, or None if there is no GPU."""
    cpu = jax.devices("cpu")[0]
    try:
        gpu = jax.devices("cuda")[0]
    except RuntimeError as error:
        print(f"no GPU: {' '.join(str(error).split())}")
        return None
    found = {"gpu": gpu.device_kind}
    for task, num_envs in TASKS.items():
        expected, on_cpu, size = play(cpu, task, num_envs, steps, turns)
        got, on_gpu, _ = play(gpu, task, num_envs, steps, turns)
        agree = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(expected, got, strict=True))
        found[task] = {"num_envs": num_envs, "cpu": on_cpu, "gpu": on_gpu, "bytes": size, "agree": agree}
        print(
            f"{task}, {num_envs} envs: CPU {on_cpu * 1e6:.0f} us, GPU {on_gpu * 1e6:.0f} us a step, of which "
            f"{(on_gpu - on_cpu) * 1e6:.0f} us for copies of {size / 1e6:.2f} MB; {'equal' if agree else 'NOT EQUAL'}"
        )
    return found


def main():
    """Measure what the command line says; fail if the devices disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    found = measure(options.steps, options.turns)
    return int(found is not None and not all(row["agree"] for row in found.values() if isinstance(row, dict)))


if __name__ == "__main__":
    raise SystemExit(main())
