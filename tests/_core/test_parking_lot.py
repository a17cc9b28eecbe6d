"""Futexes of a portable build: include/envpool/parking_lot.h, compiled for this test whatever the build is."""

import ctypes
import os
import re
import subprocess
import sysconfig
import threading
from pathlib import Path

import pytest

import envpool
import envpool._core  # keeps the lot
from tests.support.process import PATIENCE

ROOT = Path(envpool.__file__).parent
SOURCE = """
#include "envpool/atomic.h"
int use(void) { return ep_use_parking_lot(); }
int bucket(int32_t *word) { return (int)(ep_bucket_of(word) - ep_parking_lot); }
int wait_at(int32_t *word, int32_t value, int64_t ns) { return ep_futex_wait(word, value, ns); }
int wake(int32_t *word, int count) { return ep_wake_sleepers(word, count); }
int sleepers(int32_t *word) {
  int count = 0;
  pthread_mutex_lock(&ep_bucket_of(word)->lock);
  for (ep_sleeper *s = ep_bucket_of(word)->first; s != NULL; s = s->next) count += s->word == word;
  pthread_mutex_unlock(&ep_bucket_of(word)->lock);
  return count;
}
void lock(int32_t *word) { pthread_mutex_lock(&ep_bucket_of(word)->lock); }
void unlock(int32_t *word) { pthread_mutex_unlock(&ep_bucket_of(word)->lock); }
void wait_shared(int32_t *word, int32_t seen, int64_t ns) { ep_shared_futex_wait(word, seen, ns); }
"""
WOKEN, TIMEOUT = 0, 1
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def lot(tmp_path_factory):
    """Return the library; its functions take addresses of words."""
    folder = tmp_path_factory.mktemp("lot")
    (folder / "lot.c").write_text(SOURCE)
    include = [f"-I{envpool.get_include()}", f"-I{sysconfig.get_path('include')}"]
    options = [
        "-DENVPOOL_PORTABLE=1",
        "-D_GNU_SOURCE",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
    ]
    subprocess.run(["cc", *options, *include, folder / "lot.c", "-o", folder / "lot.so"], check=True)
    assert ctypes.PyDLL(str(folder / "lot.so")).use() == 0
    library = ctypes.CDLL(str(folder / "lot.so"))
    word = ctypes.POINTER(ctypes.c_int32)
    library.wait_at.argtypes = library.wait_shared.argtypes = [word, ctypes.c_int32, ctypes.c_int64]
    library.wake.argtypes = [word, ctypes.c_int]
    for function in (library.bucket, library.sleepers, library.lock, library.unlock):
        function.argtypes = [word]
    return library


class Sleeper(threading.Thread):
    """Sleeps until a word, which is zero, changes."""

    def __init__(self, lot, word):
        super().__init__(daemon=True)
        self.lot, self.word, self.result = lot, word, None
        before = lot.sleepers(word)
        self.start()
        while lot.sleepers(word) == before:
            pass

    def run(self):
        self.result = self.lot.wait_at(self.word, 0, -1)

    def ends(self):
        self.join(PATIENCE)
        return self.result == WOKEN


def test_does_not_sleep_if_the_word_has_changed(lot):
    assert lot.wait_at(ctypes.c_int32(1), 0, -1) == WOKEN


def test_sleeps_for_the_given_time(lot):
    word = ctypes.c_int32(0)
    assert lot.wait_at(word, 0, 0) == TIMEOUT and lot.wait_at(word, 0, 1000) == TIMEOUT
    assert lot.sleepers(word) == 0


def test_wakes_as_many_as_asked_in_the_order_in_which_they_came(lot):
    word = ctypes.c_int32(0)
    first, second, third = (Sleeper(lot, word) for _ in range(3))
    assert lot.wake(word, 2) == 2 and first.ends() and second.ends()
    assert third.is_alive() and lot.sleepers(word) == 1
    assert lot.wake(word, 5) == 1 and third.ends()
    assert lot.wake(word, 5) == 0


def test_words_of_one_bucket_do_not_wake_each_other(lot):
    words = (ctypes.c_int32 * 1000)()
    pairs = {}
    for k in range(1000):
        word = ctypes.c_int32.from_buffer(words, 4 * k)
        pairs.setdefault(lot.bucket(word), []).append(word)
    one, other = next(found for found in pairs.values() if len(found) > 1)[:2]
    sleepers = Sleeper(lot, one), Sleeper(lot, other)
    assert lot.wake(other, 9) == 1 and sleepers[1].ends()
    assert sleepers[0].is_alive()
    assert lot.wake(one, 9) == 1 and sleepers[0].ends()


def test_a_forked_child_has_an_empty_lot_whose_locks_are_free(lot):
    word = ctypes.c_int32(0)
    sleeper = Sleeper(lot, word)
    lot.lock(word)  # as if another thread had held it
    child = os.fork()
    if child == 0:
        os._exit(lot.sleepers(word) == 0 and lot.wait_at(word, 0, 1000) == TIMEOUT)
    lot.unlock(word)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert lot.wake(word, 1) == 1 and sleeper.ends()


def test_a_shared_word_is_looked_at_until_it_changes(lot):
    word = ctypes.c_int32(0)
    lot.wait_shared(word, 0, 1000)  # returns although nothing has changed
    lot.wait_shared(word, 1, 3600 * SECOND)
    sleeper = threading.Thread(target=lot.wait_shared, args=(word, 0, 3600 * SECOND), daemon=True)
    sleeper.start()
    word.value = 1
    sleeper.join(PATIENCE)
    assert not sleeper.is_alive()


def test_modules_that_sleep_or_wake_use_the_one_lot():
    """In a default build, the call does nothing; without it, a portable build would crash or miss wake-ups."""
    calls = {path for path in ROOT.rglob("*.pyx") if re.search("ep_(futex_wa|wake_sleepers)", path.read_text())}
    assert {path.stem for path in calls} == {"engine", "execute", "frames", "scheduler"}
    for path in calls:
        assert "\nep_use_parking_lot()\n" in path.read_text(), path
