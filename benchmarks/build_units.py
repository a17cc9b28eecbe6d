"""Record the CPU time of each translation unit of a build, for ``build.py --units``.

    build_units.py RECORD setup ARGUMENT ...      runs setup.py in the current folder, and records what Cython needs
    build_units.py RECORD COMPILER ARGUMENT ...   runs a compiler

A line of RECORD has the kind ("cython" or "compiler"), the CPU seconds, the optimisation level and the source.
"""

import os
import re
import resource
import runpy
import subprocess
import sys
import time


def append(record, kind, seconds, level, source):
    """Append a line to the record, to which several processes write."""
    with open(record, "a") as file:
        file.write(f"{kind}\t{seconds:.3f}\t{level}\t{source}\n")


def run_setup(record, arguments):
    """Run setup.py with a function around the translation of each file; Cython's worker processes inherit it."""
    from Cython.Build import Dependencies

    translate = Dependencies.cythonize_one

    def timed(source, *args, **options):
        start = time.process_time()
        translate(source, *args, **options)
        append(record, "cython", time.process_time() - start, "", source)

    Dependencies.cythonize_one = timed
    sys.argv = ["setup.py", *arguments]
    runpy.run_path("setup.py", run_name="__main__")


def run_compiler(record, command):
    """Run a compiler and return its exit status; a call that compiles one file is recorded."""
    done = subprocess.run(command, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    sources = [word for word in command if re.search(r"\.(c|cc|cpp|cxx)$", word)]
    if "-c" in command and len(sources) == 1:
        levels = [word for word in command if re.fullmatch(r"-O\w*", word)]
        source = os.path.relpath(sources[0])
        append(record, "compiler", used.ru_utime + used.ru_stime, levels[-1] if levels else "-O0", source)
    return done.returncode


if __name__ == "__main__":
    if sys.argv[2] == "setup":
        run_setup(sys.argv[1], sys.argv[3:])
    else:
        sys.exit(run_compiler(sys.argv[1], sys.argv[2:]))
