"""The CPUs and the memory that a process may use, in made-up trees of control groups and under OpenMP's binding."""

import os
import shutil
import subprocess
import sys

import pytest

from envpool._support import machine
from tests.support import plugin
from tests.support.process import listed, workers
from tests.support.python import environment

GIB = 2**30
CPUS = len(os.sched_getaffinity(0))


@pytest.fixture
def system(tmp_path):
    """Return a function that makes a process in control groups, and returns its folder of proc.

    cgroup: the lines of the file; mounts: (kind, root, folder, options); files: path below tmp_path -> text.
    """

    def make(cgroup, mounts, files):
        proc = tmp_path / "proc"
        proc.mkdir()
        (proc / "cgroup").write_text("".join(f"{line}\n" for line in cgroup))
        (proc / "mountinfo").write_text(
            "20 1 0:4 / /proc rw,nosuid shared:1 - proc proc rw\n"
            + "".join(
                f"3{i} 1 0:2{i} {root} {tmp_path / folder} rw,nosuid shared:{i} - {kind} {kind} {options}\n"
                for i, (kind, root, folder, options) in enumerate(mounts)
            )
        )
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return str(proc)

    return make


@pytest.mark.parametrize(
    ("lists", "nodes"),
    [
        ({}, [[0, 1, 2, 3, 9]]),
        ({0: "0-1", 1: "2-3,9"}, [[0, 1], [2, 3, 9]]),
        ({2: "9", 10: "0-3"}, [[9], [0, 1, 2, 3]]),
        ({0: "0-3,9", 1: "4-7", 2: ""}, [[0, 1, 2, 3, 9]]),
        ({0: "4-7"}, [[0, 1, 2, 3, 9]]),
    ],
    ids=["unknown", "two", "order", "nodes without CPUs for this process", "none of its nodes"],
)
def test_numa_nodes(tmp_path, monkeypatch, lists, nodes):
    monkeypatch.setattr(machine, "process_cpus", lambda: {0, 1, 2, 3, 9})
    for number, cpus in lists.items():
        (tmp_path / f"node{number}").mkdir()
        (tmp_path / f"node{number}" / "cpulist").write_text(cpus + "\n")
    assert machine.numa_nodes(str(tmp_path)) == nodes


V2 = ["0::/a/b"], [("cgroup2", "/", "fs", "rw")]
V1 = (
    ["4:memory:/a/b", "3:cpu,cpuacct:/a/b", "0::/"],
    [("cgroup", "/", "mem", "rw,memory"), ("cgroup", "/", "cpu", "rw,cpu,cpuacct"), ("cgroup2", "/", "uni", "rw")],
)


@pytest.mark.parametrize(
    ("groups", "files", "limit", "named"),
    [
        (V2, {"fs/a/b/memory.max": f"{GIB}\n"}, GIB, "fs/a/b/memory.max"),
        (V2, {"fs/a/b/memory.max": "max\n", "fs/a/memory.max": f"{GIB}\n"}, GIB, "fs/a/memory.max"),
        (V2, {"fs/a/b/memory.max": f"{2 * GIB}\n", "fs/a/memory.max": f"{GIB}\n"}, GIB, "fs/a/memory.max"),
        (V2, {"fs/memory.max": f"{GIB}\n"}, GIB, "fs/memory.max"),
        (V2, {"memory.max": "1\n", "fs/a/c/memory.max": "1\n"}, None, "this machine"),
        (V2, {"fs/a/b/memory.max": "max\n"}, None, "this machine"),
        (V2, {"fs/a/b/memory.max": "?\n"}, None, "this machine"),
        (V2, {}, None, "this machine"),
        (V1, {"mem/a/b/memory.limit_in_bytes": f"{GIB}\n"}, GIB, "mem/a/b/memory.limit_in_bytes"),
        (V1, {"mem/a/memory.limit_in_bytes": f"{GIB}\n"}, GIB, "mem/a/memory.limit_in_bytes"),
        (V1, {"mem/a/b/memory.limit_in_bytes": "9223372036854771712\n"}, None, "this machine"),
        # A container's group is mounted as the root, while the path is that of the host.
        ((["4:memory:/docker/x"], [("cgroup", "/docker/x", "mem", "rw,memory")]),
         {"mem/memory.limit_in_bytes": f"{GIB}\n"}, GIB, "mem/memory.limit_in_bytes"),
        ((["4:memory:/docker/x"], [("cgroup", "/other", "mem", "rw,memory")]),
         {"mem/memory.limit_in_bytes": f"{GIB}\n"}, GIB, "mem/memory.limit_in_bytes"),
        # A group beside that of the mount, whose name begins with that of the mount's.
        ((["4:memory:/docker/xy"], [("cgroup", "/docker/x", "mem", "rw,memory")]),
         {"mem/memory.limit_in_bytes": f"{GIB}\n"}, GIB, "mem/memory.limit_in_bytes"),
        (([], []), {}, None, "this machine"),
    ],
)  # fmt: skip
def test_memory_limit(system, groups, files, limit, named):
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found, source = machine.memory_limit(system(*groups, files))
    assert found == (limit or physical)
    assert named in source


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        (V2, {"fs/a/b/cpu.max": "max 100000\n"}, 64),
        (V2, {"fs/a/b/cpu.max": "200000 100000\n"}, 2),
        (V2, {"fs/a/b/cpu.max": "200001 100000\n"}, 3),
        (V2, {"fs/a/b/cpu.max": "1000 100000\n"}, 1),
        (V2, {"fs/a/b/cpu.max": "800000 100000\n", "fs/a/cpu.max": "300000 100000\n"}, 3),
        (V2, {}, 64),
        (V2, {"fs/a/b/cpu.max": "0 0\n"}, 64),
        (V1, {"cpu/a/b/cpu.cfs_quota_us": "250000\n", "cpu/a/b/cpu.cfs_period_us": "100000\n"}, 3),
        (V1, {"cpu/a/b/cpu.cfs_quota_us": "-1\n", "cpu/a/b/cpu.cfs_period_us": "100000\n"}, 64),
        (V1, {"cpu/a/cpu.cfs_quota_us": "50000\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, 1),
        (([], []), {}, 64),
    ],
)
def test_cpu_limit(system, groups, files, limit, monkeypatch):
    monkeypatch.setattr(machine, "process_cpus", lambda: set(range(64)))
    assert machine.cpu_limit(system(*groups, files)) == limit


def test_cpus_limit_the_quota(system, monkeypatch):
    monkeypatch.setattr(machine, "process_cpus", lambda: {3})
    assert machine.cpu_limit(system(*V2, {"fs/a/b/cpu.max": "800000 100000\n"})) == 1


def test_a_mount_whose_name_is_no_text(system, tmp_path):
    proc = system(*V2, {"fs/a/b/memory.max": f"{GIB}\n"})
    with open(tmp_path / "proc/mountinfo", "ab") as file:
        file.write(b"40 1 0:40 / /mnt/\xff rw shared:9 - ext4 /dev/sda rw\n")
    assert machine.memory_limit(proc)[0] == GIB


def test_this_process():
    limit, source = machine.memory_limit()
    assert 2**26 < limit <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert source
    assert 1 <= machine.cpu_limit() <= CPUS


# ---- OpenMP ----------------------------------------------------------------------------------------------------------

LOAD = "import ctypes, os\nctypes.CDLL(os.environ['WITH_OPENMP'])\n"
SHOW = (
    "import os\n"
    "from tests._core.test_engine import plugin, use_all_threads, workers\n"
    "from envpool._support.machine import process_cpus\n"
    "with plugin.make(num_envs=16, num_threads=2, cost_ns=50e3) as pool:\n"
    "    use_all_threads(pool)\n"
    "    print(len(os.sched_getaffinity(0)), len(process_cpus()), len(set(workers().values())), end=' ')\n"
    "    print(*sorted(set(workers().values())))\n"
)


@pytest.fixture(scope="module")
def openmp_library(tmp_path_factory):
    """Return a library that is linked against libgomp and loads it, as torch does."""
    plugin.load()
    folder = tmp_path_factory.mktemp("openmp")
    (folder / "a.c").write_text("int f(int n) {\n#pragma omp parallel reduction(+ : n)\n  n++;\n  return n;\n}\n")
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "building the package takes a compiler, too"
    subprocess.run([compiler, "-fopenmp", "-shared", "-fPIC", "-o", folder / "a.so", folder / "a.c"], check=True)
    return str(folder / "a.so")


@pytest.mark.linux
@pytest.mark.parametrize("variable", ["OMP_PROC_BIND=true", "OMP_PROC_BIND=close", "OMP_PLACES=cores"])
@pytest.mark.parametrize("order", ["before", "after"])
def test_workers_do_not_inherit_the_binding_of_openmp(openmp_library, variable, order):
    name, _, value = variable.partition("=")
    code = LOAD + SHOW if order == "before" else "import envpool\n" + LOAD + SHOW
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(WITH_OPENMP=openmp_library, OMP_NUM_THREADS="1", **{name: value}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    bound, found, masks, *cpus = done.stdout.split()
    assert bound == "1" or CPUS == 1, "this test shows nothing unless OpenMP binds the main thread"
    assert (found, masks) == (str(CPUS), "1")
    assert len(listed(cpus[0])) == CPUS


def test_a_mask_that_the_user_sets_counts():
    """Without OpenMP's variables, the mask of the calling thread is what the user wants."""
    code = "import envpool, os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n" + SHOW
    plain = {k: v for k, v in environment().items() if k not in machine.BINDING}
    done = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["1", "1", "1"]


@pytest.mark.linux
def test_more_cpus_than_a_cpu_set_has_room_for(monkeypatch):
    """Ids from 1,024 on are handed to the kernel; the ids that this machine lacks change nothing."""
    here = os.sched_getaffinity(0)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: here | {1023, 1024, 5000})
    for offset, expected in ((-1, here), (0, {min(here)}), (CPUS + 1, here)):
        with plugin.make(num_envs=8, num_threads=3, thread_affinity_offset=offset) as pool:
            assert listed(workers()["envpool-0"]) == expected
            pool.reset()
