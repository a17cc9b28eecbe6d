"""Page-locked rollouts, with a CUDA runtime that only records which memory is locked."""

import ctypes
import gc
import os
import subprocess

import numpy as np
import pytest

import envpool
from envpool.rollout.pinning import PinningError
from tests.support import plugin
from tests.support.forking import may_fork
from tests.support.python import output_of

N, T = 6, 5
PIN = """
import envpool
try:
    envpool.Rollout(envpool.make_gymnasium("CartPole-v1", num_envs=2), 2, pin=True)
except RuntimeError as error:
    print("RuntimeError", error)
else:
    print("locked")
"""
SOURCE = r"""
#include <stddef.h>
enum { MOST = 64 };
static void *bases[MOST];
static size_t sizes[MOST];
static int fails, locks, unlocks, wrong;
void fake_set_fails(int code) { fails = code; }
int fake_locks(void) { return locks; }
int fake_unlocks(void) { return unlocks; }
int fake_wrong(void) { return wrong; }
int fake_is_locked(char *from, size_t size) {
  for (int i = 0; i < MOST; i++)
    if (bases[i] && (char *)bases[i] <= from && from + size <= (char *)bases[i] + sizes[i]) return 1;
  return 0;
}
int cudaHostRegister(void *base, size_t size, unsigned flags) {
  if (fails) return fails;
  if (flags != 1 || (size_t)base % 4096) wrong++;
  for (int i = 0; i < MOST; i++)
    if (!bases[i]) {
      bases[i] = base, sizes[i] = size, locks++;
      return 0;
    }
  return 2;
}
int cudaHostUnregister(void *base) {
  for (int i = 0; i < MOST; i++)
    if (bases[i] == base) {
      volatile char *end = (char *)base + sizes[i] - 1;
      *end = *end; /* the memory must not have been freed */
      bases[i] = 0, unlocks++;
      return 0;
    }
  wrong++;
  return 1;
}
const char *cudaGetErrorString(int code) { return "out of pages"; }
"""


@pytest.fixture
def cuda(tmp_path, monkeypatch):
    """The fake runtime, in a library of its own for each test."""
    source, library = tmp_path / "fake.c", tmp_path / "libcudart.so"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("ENVPOOL_CUDART", str(library))
    cuda = ctypes.CDLL(str(library))
    cuda.fake_is_locked.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    yield cuda
    gc.collect()
    assert cuda.fake_wrong() == 0


def fill(rollout):
    for _ in range(T):
        rollout.step(np.ones(N, np.int32), value=np.zeros(N))
    return rollout.finish()


def is_locked(cuda, array):
    return bool(cuda.fake_is_locked(array.ctypes.data, array.nbytes))


@pytest.mark.parametrize("items", [6, 100_000])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_two_halves_are_locked_and_take_turns(cuda, mode, items):
    pool = plugin.make(num_envs=N, autoreset_mode=mode, items=items)
    rollout = envpool.Rollout(pool, T, {"value": np.float32}, pin=True)
    assert (cuda.fake_locks(), cuda.fake_unlocks()) == (2, 0)
    rollout.reset()
    addresses = []
    for _ in range(6):
        data = fill(rollout)
        for array in (data.obs, data.next_obs, data.last_obs, data.reward, data.action, data.value, data.valid):
            assert is_locked(cuda, array)
        addresses.append(data.obs.ctypes.data)
    assert len(set(addresses)) == 2
    assert addresses == addresses[:2] * 3
    assert (cuda.fake_locks(), cuda.fake_unlocks()) == (2, 0)
    reward = data.reward
    del array, data, rollout
    pool.close()
    del pool
    gc.collect()
    assert (cuda.fake_locks(), cuda.fake_unlocks()) == (2, 1)
    assert is_locked(cuda, reward)
    del reward
    assert (cuda.fake_locks(), cuda.fake_unlocks()) == (2, 2)


def test_memory_beside_the_halves_is_locked_as_well(cuda):
    rollout = envpool.Rollout(plugin.make(num_envs=N), T, {"value": np.float32}, pin=True)
    rollout.reset()
    held = [fill(rollout) for _ in range(4)]
    assert all(is_locked(cuda, data.obs) for data in held)
    assert cuda.fake_locks() == 4
    del held
    for _ in range(4):
        fill(rollout)
    assert cuda.fake_unlocks() == 2


def test_a_lock_that_fails(cuda):
    pool = plugin.make(num_envs=N)
    cuda.fake_set_fails(2)
    with pytest.raises(PinningError, match=r"could not lock .* MiB of memory: out of pages \(code 2\)"):
        envpool.Rollout(pool, T, pin=True)
    cuda.fake_set_fails(0)
    gc.collect()
    assert cuda.fake_locks() == cuda.fake_unlocks() == 0


def test_without_cuda(tmp_path, monkeypatch):
    pool = plugin.make(num_envs=N)
    monkeypatch.setenv("ENVPOOL_CUDART", str(tmp_path / "nothing.so"))
    with pytest.raises(PinningError, match=r"pin=True needs the CUDA runtime, which could not be loaded \(.*nothing"):
        envpool.Rollout(pool, T, pin=True)
    monkeypatch.setenv("ENVPOOL_CUDART", "libm.so.6")
    with pytest.raises(PinningError, match="the CUDA runtime lacks cudaHostRegister"):
        envpool.Rollout(pool, T, pin=True)
    assert envpool.Rollout(pool, T).reset() is not None


def test_usual_libraries_are_looked_for(monkeypatch):
    monkeypatch.delenv("ENVPOOL_CUDART", raising=False)
    text = output_of(PIN)
    assert text.startswith("locked") or "the CUDA runtime" in text


@pytest.mark.skipif(not may_fork(), reason="this process must not fork")
def test_a_forked_child_unlocks_nothing(cuda):
    rollout = envpool.Rollout(plugin.make(num_envs=N), T, pin=True)
    child = os.fork()
    if child == 0:
        del rollout
        gc.collect()
        os._exit(cuda.fake_unlocks())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    del rollout
    gc.collect()
    assert cuda.fake_unlocks() == 2
