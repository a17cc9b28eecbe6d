"""Compare the rollouts of examples/ppo.py with those of the example in another revision.

    python benchmarks/ppo_rollouts.py [REVISION] [--tasks HalfCheetah-v5:64 ...] [--turns 15] [--seconds 0.5]

By default, REVISION is the last one whose example did everything besides the environments in NumPy and torch, without a
Rollout, native transforms, statistics and sampling. Both versions run on the pool of this tree. Each has a process of
its own, which trains without updates: the policy stays random. In each turn, both collect rollouts of 64 steps, one
version after the other, for the given time. The table shows the medians over the turns of a version's time per step of
all environments, in microseconds, and of the ratio within a turn: wall time, which counts for environments that take
long, and CPU time of all threads. Pools have their default number of threads, torch has one.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from envpool.cli.bench.machine import describe_machine

ROOT = Path(__file__).resolve().parents[1]
REVISION = "104c0df^"
NUM_STEPS = 64


def serve(folder, task, num_envs):
    """Collect rollouts for each line of the input, which gives the seconds; print wall and CPU time per step in us."""
    sys.path.insert(0, folder)
    import ppo

    collect = ppo.Rollout.collect
    count, start, end = 0, (0.0, 0.0), 0.0

    def measured(self, *args):
        nonlocal count, start, end
        if time.perf_counter() >= end:
            if count:
                used = time.perf_counter() - start[0], time.process_time() - start[1]
                print(*(1e6 * seconds / count / NUM_STEPS for seconds in used), flush=True)
            line = sys.stdin.readline()
            if not line:
                sys.exit()
            count, start = 0, (time.perf_counter(), time.process_time())
            end = start[0] + float(line)
        count += 1
        return collect(self, *args)

    ppo.Rollout.collect, ppo.update = measured, lambda *args: {}
    ppo.Rollout.estimate_advantages = ppo.Rollout.transitions = lambda *args: None
    sizes = ["--num-envs", num_envs, "--num-steps", str(NUM_STEPS), "--total-timesteps", str(10**12)]
    ppo.train(ppo.parse_args(["--task", task, *sizes]))


class Version:
    """A process that runs a version of the example."""

    def __init__(self, folder, task, num_envs):
        command = [sys.executable, __file__, "--serve", str(folder), task, num_envs]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes, text=True, bufsize=1)

    def measure(self, seconds):
        """Return wall and CPU time per step in microseconds."""
        self.process.stdin.write(f"{seconds}\n")
        return [float(x) for x in self.process.stdout.readline().split()]

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def compare(folders, name, turns, seconds):
    """Print the row of a task, such as HalfCheetah-v5:64."""
    versions = [Version(folder, *name.split(":")) for folder in folders]
    for version in versions:
        version.measure(seconds)
    rows = [[version.measure(seconds) for version in versions] for _ in range(turns)]
    for version in versions:
        version.close()
    for k, clock in enumerate(("wall", "CPU")):
        old, new = ([row[i][k] for row in rows] for i in range(2))
        ratio = statistics.median(x / y for x, y in zip(old, new, strict=True))
        print(f"| {name} | {clock} | {statistics.median(old):.0f} | {statistics.median(new):.0f} | {ratio:.2f} |")


def main():
    """Measure the tasks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?", default=REVISION, help="Git revision to compare with")
    parser.add_argument("--tasks", nargs="+", default=["CartPole-v1:64", "HalfCheetah-v5:64"], help="ID:NUM_ENVS")
    parser.add_argument("--turns", type=int, default=15, help="measurements of each version (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of a measurement (default: %(default)s)")
    args = parser.parse_args()
    print(describe_machine())
    print(f"| task, environments | time | {args.revision}, us | this tree, us | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        files = subprocess.run(["git", "archive", args.revision, "examples"], cwd=ROOT, check=True, stdout=-1).stdout
        subprocess.run(["tar", "x"], cwd=folder, input=files, check=True)
        for name in args.tasks:
            compare([Path(folder) / "examples", ROOT / "examples"], name, args.turns, args.seconds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        main()
