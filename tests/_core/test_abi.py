"""The ABI does not break: plug-ins that were built against frozen copies of earlier headers run, or are refused."""

import ctypes
import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError
from envpool.native import Field, define, describe
from tests.support.definitions import new_capsule, pool_of

ABI = Path(__file__).parent / "abi"
CURRENT = Path(envpool.get_include()) / "envpool" / "env.h"
FUNCTIONS = ["create", "destroy", "seed_many", "step_many", "write_many", "run_many", "error_text", "render_many"]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compile_c(source, target, *flags, standard="c11"):
    """Compile a C file without warnings; return the path of the result."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, f"-std={standard}", *STRICT, *flags, str(source), "-o", str(target)], check=True)
    return target


@pytest.fixture(scope="module")
def capsule_of(tmp_path_factory):
    """Return a function that returns the env definition of a plug-in."""
    folder = tmp_path_factory.mktemp("abi")
    libraries = {}

    def capsule(plugin, name="SEPARATE"):
        if plugin not in libraries:
            path = compile_c(ABI / f"{plugin}.c", folder / f"{plugin}.so", "-shared", "-fPIC")
            libraries[plugin] = ctypes.CDLL(str(path))
        return new_capsule(ctypes.addressof(ctypes.c_char.in_dll(libraries[plugin], name)))

    return capsule


def test_a_plugin_of_version_1_is_refused(capsule_of):
    text = (
        r"the environment was built for version 1 of the envpool ABI \(\d+ bytes\), but this envpool has version 2 "
        r"\(\d+ bytes\): rebuild it against envpool.get_include\(\)"
    )
    old = capsule_of("plugin_v1")
    with pytest.raises(ImportError, match=text):
        pool_of(old)
    with pytest.raises(ImportError, match=text):
        describe(old)
    with pytest.raises(ImportError, match=text):
        define(old, [Field("obs", np.int32)], [Field("action", np.int32)])


@pytest.mark.parametrize("name", ["SEPARATE", "FUSED"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_plugin_of_the_first_header_of_version_2_runs(capsule_of, name, num_threads):
    with pool_of(capsule_of("plugin_v2", name), num_envs=600, num_threads=num_threads, seed=0) as pool:
        ids = np.arange(600)
        sums = ids % 100
        obs, info = pool.reset()
        for _ in range(5):
            assert obs.tolist() == np.stack([sums, ids], axis=1).tolist()
            assert info["odd"].tolist() == (sums % 2 == 1).tolist()
            actions = np.where(ids % 3, 40, 8).astype(np.int32)
            ended = (sums >= 100) | (info["elapsed_step"] > 0) & (ids % 3 == 0)
            obs, reward, terminated, truncated, info = pool.step(actions)
            sums = np.where(ended, ids % 100, sums + actions)
            assert reward.tolist() == np.where(ended, 0, actions / 2).tolist()
            assert terminated.tolist() == (~ended & (sums >= 100)).tolist()
            assert truncated.tolist() == (~ended & (ids % 3 == 0)).tolist()


@pytest.mark.parametrize("name", ["SEPARATE", "FUSED"])
def test_failures_discounts_and_frames_of_that_plugin(capsule_of, name):
    with pool_of(capsule_of("plugin_v2", name), "dm", num_envs=4, seed=0) as pool:
        assert pool.reset().discount.tolist() == [1] * 4
        with pytest.raises(EnvStepError) as caught:
            pool.step(np.array([1, 7, 8, 9], np.int32))
        assert caught.value.failures == {1: "sum 8, code 7"}
        step = pool.recv()
        assert step.observation.obs.tolist() == [[1, 0], [0, 0], [10, 2], [12, 3]]
        assert step.discount.tolist() == [1, 1, 1, 0.5]
        assert step.step_type.tolist() == [1, 2, 2, 1]
    with pool_of(capsule_of("plugin_v2", name), num_envs=3, seed=5, batch_size=2) as pool:
        pool.async_reset()
        obs, info = pool.recv(reset=True)
        assert obs.tolist() == [[5 + i, i] for i in info["env_id"]]
    with pool_of(capsule_of("plugin_v2", name), num_envs=3, seed=5) as pool:
        pool.reset()
        frames = pool._render_frames([0, 2], 4, 6, -1)
        assert frames.shape == (2, 4, 6, 3)
        assert [set(frame.ravel().tolist()) for frame in frames] == [{5}, {7}]


#: Members that later headers use, for the compiler.
RENAMED = ("-Dreserved=num_params", "-Dnum_players=player_present")


def layout(header, folder, *flags):
    """Return the constants and members of version 2 in a header: {name: [value] or [offset, size]}."""
    program = compile_c(ABI / "layout_v2.c", folder / header.stem, f'-DHEADER="{header}"', *flags)
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return dict(line.split(" ", 1) for line in output.splitlines())


def test_the_current_structs_begin_with_those_of_the_first_header(tmp_path):
    frozen, current = layout(ABI / "env_v2.h", tmp_path), layout(CURRENT, tmp_path, *RENAMED)
    sizes = {name: int(value.split()[1]) for name, value in frozen.items() if value.startswith("sizeof")}
    assert len(sizes) == 7
    for name, size in sizes.items():
        assert int(current[name].split()[1]) >= size, name
    assert {k: v for k, v in current.items() if k not in sizes} == {k: v for k, v in frozen.items() if k not in sizes}
    assert [name for name, value in frozen.items() if value == "1"] == FUNCTIONS  # their types are those of the program


def test_the_program_lists_every_member_of_the_first_header(tmp_path):
    frozen = layout(ABI / "env_v2.h", tmp_path)
    ends = {}
    for name, value in frozen.items():
        if "." in name:
            struct, offset, size = name.split(".")[0], *map(int, value.split())
            assert ends.get(struct, 0) == offset, name
            ends[struct] = offset + size
    assert ends == {name: int(v.split()[1]) for name, v in frozen.items() if v.startswith("sizeof")}


@pytest.mark.parametrize(("language", "standard"), [("c", "c99"), ("c++", "c++11")])
def test_no_struct_has_padding(language, standard, tmp_path):
    """Otherwise a member that is appended into padding would not raise struct_size."""
    compile_c(CURRENT, tmp_path / "none", "-x", language, "-Wpadded", "-fsyntax-only", standard=standard)


def test_the_frozen_header_is_version_2():
    assert re.search(r"#define ENVPOOL_ABI_VERSION 2$", (ABI / "env_v2.h").read_text(), re.MULTILINE)
