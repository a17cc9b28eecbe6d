"""What a machine with many cores shows: scaling with threads, a learner's loop, and xla() on a GPU if there is one.

    python benchmarks/many_cores.py [OUT, default out/many_cores]

Writes many_cores.json and scaling.png into the folder OUT. scripts/many_cores calls this with a wheel in an environment
of its own. The parts have less time than by themselves, so that all of them end within eight minutes.
"""

import json
import sys
import time
from pathlib import Path

import learner_loop
import matplotlib.pyplot as plt
import scaling

from envpool.cli.bench.machine import describe_machine

THREADS = (1, 2, 4, 8, 16)


def plot(rates, path):
    """Draw the efficiency of each cell over the number of threads: tasks on the left, synthetic ones on the right."""
    synthetic = {name: row for name, row in rates.items() if " us " in name}
    tasks = {name: row for name, row in rates.items() if name not in synthetic}
    _, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for axis, title, cells in zip(axes, ("tasks", "synthetic environments"), (tasks, synthetic), strict=True):
        for name, row in cells.items():
            style = "--" if "async" in name else "-"
            axis.plot(list(row), list(scaling.efficiency(row).values()), style, marker="o", markersize=3, label=name)
        axis.set(
            title=title, xlabel="threads", xscale="log", xticks=list(THREADS), xticklabels=list(THREADS), ylim=(0, 1.1)
        )
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        if cells:
            axis.legend(fontsize=6, ncols=2)
    axes[0].set_ylabel("efficiency: steps per second and thread,\n1 = those of one thread")
    plt.savefig(path, dpi=120)


def main():
    """Measure, write and plot."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/many_cores")
    folder.mkdir(parents=True, exist_ok=True)
    begin, results = time.monotonic(), {"machine": describe_machine()}
    print(json.dumps(results["machine"], indent=2))
    # The longest part last: if the time is cut, what was measured before is there.
    for name, measure in {
        "xla": on_devices,
        "learner_loop": lambda: learner_loop.print_table(turns=5),
        "rates": lambda: scaling.measure(THREADS, seconds=0.3, rounds=3),
    }.items():
        results[name] = measure()
        results["seconds"] = round(time.monotonic() - begin, 1)
        (folder / "many_cores.json").write_text(json.dumps(results, indent=1) + "\n")
    plot(results["rates"], folder / "scaling.png")
    print(f"{results['seconds']:.0f} s; results in {folder}")


def on_devices():
    """Compare the devices of JAX, if it is installed."""
    try:
        import xla_device
    except ImportError as error:
        print(f"without JAX: {error}")
        return None
    return xla_device.measure(steps=100, turns=3)


if __name__ == "__main__":
    main()
