"""Measure what a build of the package costs, and what it yields: sizes, and the time of the first import.

    python benchmarks/build.py [REVISION ...] [--units] [--demo] [--json FILE]
    python benchmarks/build.py 444ed53 . --demo --json docs/data/build.json && python scripts/pages.py

A tree is copied into a temporary folder and built there by ``setup.py build``, in the current environment and without
ccache. A dot, the default, stands for this working tree with its uncommitted changes; each other argument is a Git
revision. 444ed53 is the last one before wheels, smaller modules and checks of the toolchain; it has fewer families.
Source distributions that this tree has downloaded are copied along, so that no download is measured.

- CPU seconds are the user and system time of the build and of every process that it starts. They hardly depend on the
  number of cores. Other load on the machine raises them by up to a third, and wall seconds by any factor; the load
  average before the build tells.
- Extensions whose requirements are missing on the machine are left out; their number is printed.
- The installed size is the sum of the files of the package folder, with the bytecode that pip compiles. The wheel is
  that of ``setup.py bdist_wheel``; scripts/wheel makes one of almost the same size.
- Import times are medians of RUNS processes, after one that is not counted: the files are in the page cache. The first
  pool is one CartPole, made and reset; its time includes the import.
- With ``--units``, the 20 translation units that need most CPU time are printed: what Cython and the compiler need for
  each, and the level of optimisation. Recording them adds about 5 s to the CPU seconds of the build.
- With ``--demo``, scripts/demo runs in the copy as well, with its downloads.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 7
UNITS = 20
TIMED = "import time; start = time.perf_counter(); import envpool; {}; print(time.perf_counter() - start)"
FIRST_POOL = "envpool.make('CartPole-v1', 'gymnasium', num_envs=1).reset()"


def copy_tree(revision, target):
    """Copy the sources of a revision, or of the working tree if it is a dot, into a new folder."""
    target.mkdir()
    if revision == ".":
        listed = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, stdout=-1
        ).stdout
        files = b"\0".join(name for name in listed.split(b"\0") if name and (ROOT / os.fsdecode(name)).is_file())
        packed = subprocess.run(["tar", "c", "--null", "-T", "-"], cwd=ROOT, input=files, check=True, stdout=-1).stdout
    else:
        packed = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, stdout=-1).stdout
    subprocess.run(["tar", "x"], cwd=target, input=packed, check=True)
    if (ROOT / "build/sdists").exists():
        shutil.copytree(ROOT / "build/sdists", target / "build/sdists")


def cpu_seconds():
    """Return the CPU time of all finished child processes, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def milliseconds(code, package):
    """Return the time of the import of a package with some code after it: the median over processes."""
    env = os.environ | {"PYTHONPATH": str(package.parent)}
    command = [sys.executable, "-c", TIMED.format(code)]
    runs = [subprocess.run(command, cwd=package.parents[1], env=env, check=True, stdout=-1) for _ in range(RUNS + 1)]
    return round(1e3 * statistics.median(float(done.stdout) for done in runs[1:]), 1)


def wheel_size(tree):
    """Return the size of the wheel of a built tree, in bytes."""
    subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel", "--skip-build"], cwd=tree, check=True, stdout=-1)
    (wheel,) = tree.glob("dist/*.whl")
    return wheel.stat().st_size


def costliest(record):
    """Return the most expensive units of a record of build_units.py: name, level, seconds of Cython and compiler."""
    units = {}
    for line in record.read_text().splitlines():
        kind, seconds, level, source = line.split("\t")
        # Generated files lie in the build folder, in the same place as their sources in the tree.
        name = source.removeprefix("build/release/")
        name = name.rpartition(".")[0] if name.startswith("envpool/") else name
        unit = units.setdefault(name, {"unit": name, "level": "", "cython_s": 0.0, "compiler_s": 0.0})
        unit[f"{kind}_s"] = round(unit[f"{kind}_s"] + float(seconds), 2)
        unit["level"] = level or unit["level"]
    return sorted(units.values(), key=lambda unit: -unit["cython_s"] - unit["compiler_s"])[:UNITS]


def measure(revision, with_units, with_demo):
    """Build a tree and return the figures, by name."""
    with tempfile.TemporaryDirectory(prefix="envpool-build-") as folder:
        tree = Path(folder) / "tree"
        copy_tree(revision, tree)
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CC", "CXX")}
        env["CCACHE_DISABLE"] = "1"
        command, record = [sys.executable, "setup.py", "-q", "build"], Path(folder) / "units.tsv"
        if with_units:
            through = [sys.executable, "-S", str(ROOT / "benchmarks/build_units.py"), str(record)]
            env |= {"CC": shlex.join([*through, "cc"]), "CXX": shlex.join([*through, "c++"])}
            command = [sys.executable, *through[2:], "setup", "-q", "build"]
        load, cpu, wall = os.getloadavg()[0], cpu_seconds(), time.perf_counter()
        done = subprocess.run(command, cwd=tree, env=env, stdout=-1, stderr=subprocess.STDOUT, text=True)
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
        if done.returncode:
            raise SystemExit(f"the build of {revision} failed:\n{done.stdout[-4000:]}")
        units = costliest(record) if with_units else None
        (package,) = tree.glob("build/release*/lib*/envpool")
        wheel = wheel_size(tree)  # before the bytecode is there, which a wheel does not contain
        subprocess.run([sys.executable, "-m", "compileall", "-q", package], check=True)
        objects = [path.stat().st_size for path in package.rglob("*.so")]
        installed = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
        imported, pool = milliseconds("pass", package), milliseconds(FIRST_POOL, package)
        start = time.perf_counter()
        if with_demo:
            subprocess.run(["scripts/demo"], cwd=tree, env=env, check=True, stdout=subprocess.DEVNULL)
        demo = time.perf_counter() - start
    return {
        "revision": "working tree" if revision == "." else revision,
        "load_before": round(load, 2),
        "cpu_s": round(cpu, 1),
        "wall_s": round(wall, 1),
        "left_out": done.stdout.count("is left out: "),
        "shared_objects": len(objects),
        "shared_objects_mb": round(sum(objects) / 1e6, 2),
        "installed_mb": round(installed / 1e6, 2),
        "wheel_mb": round(wheel / 1e6, 2),
        "import_ms": imported,
        "first_pool_ms": pool,
        "demo_s": round(demo) if with_demo else None,
        "units": units,
    }


def machine():
    """Return the processor, the cores and the compiler; envpool's own function needs a built package."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    version = subprocess.run(["cc", "--version"], check=True, stdout=-1, text=True).stdout.splitlines()[0]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "compiler": version,
    }


def main():
    """Measure the trees that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "revisions", nargs="*", default=["."], metavar="REVISION", help="Git revisions; a dot is the working tree"
    )
    parser.add_argument("--units", action="store_true", help=f"also print the {UNITS} most expensive translation units")
    parser.add_argument("--demo", action="store_true", help="also run scripts/demo, which takes minutes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    report = {"machine": machine(), "builds": []}
    print(", ".join(f"{name} {value}" for name, value in report["machine"].items()))
    for revision in args.revisions:
        report["builds"].append(measure(revision, args.units, args.demo))
        figures = report["builds"][-1]
        print(", ".join(f"{name} {value}" for name, value in figures.items() if name != "units"), flush=True)
        if args.units:
            print(f"{'unit':50} {'level':>5} {'Cython, s':>9} {'compiler, s':>11}")
            for unit in figures["units"]:
                print("{unit:50} {level:>5} {cython_s:9.2f} {compiler_s:11.2f}".format_map(unit), flush=True)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
