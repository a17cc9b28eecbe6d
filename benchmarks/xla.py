"""Compare the cost of a pool's step when it is called from C, from Python, and from code compiled by JAX.

    python benchmarks/xla.py [--calls N] [--turns N]

The task is CartPole-v1 with one thread. It is stepped with the same action in a loop in C (benchmarks/consumer.pyx), in
a loop in Python, and in one lax.fori_loop under jit. JAX runs that loop on the calling thread or, if the program also
contains a matrix product, on one of its own threads; both are measured. The loops take turns. Figures are medians over
the turns, in CPU time, which other programs disturb less than elapsed time. JAX copies each batch into its own buffers,
which is part of its overhead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import envpool  # noqa: E402

ENVIRON = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def load_c_loop():
    """Build the loop in C in a temporary folder and return its function."""
    folder = tempfile.mkdtemp(prefix="envpool-benchmark-")
    command = [sys.executable, "extension.py", "consumer", folder]
    subprocess.run(command, check=True, cwd=ROOT / "benchmarks", env=ENVIRON, stdout=subprocess.DEVNULL)
    sys.path.insert(0, folder)
    from consumer import step_many

    return step_many


def loops(num_envs, calls, step_many):
    """Return the loops by name; each is a function that makes `calls` calls."""
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=num_envs, num_threads=1)
    handle, _, _, step = pool.xla()
    action = np.zeros(num_envs, np.int32)
    inside = jax.jit(lambda h, a: jax.lax.fori_loop(0, calls, lambda _, h: step(h, a)[0], h))

    matrix = jnp.eye(64)
    apart = jax.jit(lambda h, a, m: (inside(h, a), m @ m))

    def from_python():
        for _ in range(calls):
            pool.step(action)

    def from_jax():
        inside(handle, action).block_until_ready()

    def from_its_thread():
        jax.block_until_ready(apart(handle, action, matrix))

    in_c = partial(step_many, pool, action, calls)
    return {"C": in_c, "Python": from_python, "JAX": from_jax, "JAX, own thread": from_its_thread}


def measure(num_envs, calls, turns, step_many):
    """Return the microseconds per call of each loop in each turn."""
    named = loops(num_envs, calls, step_many)
    spent = {name: [] for name in named}
    for turn in range(turns + 1):
        for name, run in named.items():
            began = time.process_time()
            run()
            if turn:  # JAX compiles in the first turn
                spent[name].append((time.process_time() - began) / calls * 1e6)
    return spent


def main():
    """Measure all loops and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000, help="calls in a turn")
    parser.add_argument("--turns", type=int, default=15, help="turns of each loop")
    args = parser.parse_args()
    step_many = load_c_loop()
    names = ("C", "Python", "JAX", "JAX, own thread")
    print(f"| envs | {' | '.join(f'{name}, us' for name in names)} | JAX - C, us |\n{'| --- ' * 6}|")
    for num_envs in (1, 4, 16, 64):
        spent = measure(num_envs, args.calls, args.turns, step_many)
        overhead = median(j - c for j, c in zip(spent["JAX"], spent["C"], strict=True))
        cells = [f"{median(spent[name]):.2f}" for name in names]
        print(f"| {num_envs} | {' | '.join(cells)} | {overhead:.2f} |")


if __name__ == "__main__":
    main()
