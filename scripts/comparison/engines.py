"""The packages that are compared, each in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from envpool.cli.bench import loops

PEER_VERSION = "1.2.5"
ALE = "ale_py AtariVectorEnv"
#: The peer runs isolated from PYTHONPATH (-I); otherwise it could import this package.
PEER_FLAGS = ("-I", "-W", "ignore")
HERE = Path(__file__).parent


class Engine:
    """A package in a subprocess that runs worker.py.

    Parameters
    ----------
    name : str
        Name of the package in the report.
    command : list of str
        The interpreter and its options.
    worker : str
        File in this folder that the subprocess runs.
    """

    def __init__(self, name: str, command: list[str], worker: str = "worker.py"):
        self.name = name
        self.command = command
        # Doom's engine writes its settings into the working directory.
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        arguments = [str(HERE / worker), str(loops.__file__)]
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder.name,
            start_new_session=True,  # Ctrl-C goes to the parent, which ends this process
        )

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the reply; raise RuntimeError with the reason if the request fails."""
        assert self.process.stdin and self.process.stdout
        try:
            print(json.dumps({"do": do} | request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            raise RuntimeError(
                f"the process of {self.name} ended (exit status {status}) during {do!r}; see its output above"
            )
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def probe(self, task: str, num_envs: int, num_threads: int) -> dict[str, float]:
        """Return the cost of import and construction, measured by probe.py in a fresh process."""
        arguments = [str(HERE / "probe.py"), task, str(num_envs), str(num_threads)]
        command = [*self.command, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=self.folder.name, check=True)
        figures: dict[str, float] = json.loads(done.stdout)
        return figures

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()


def own_engine() -> Engine:
    """Return the engine for this package, in the running interpreter."""
    return Engine("envpool", [sys.executable, "-P"])


def ale_engine() -> Engine:
    """Return the engine for ale_py, in the running interpreter; ale_worker.py imports worker.py from its folder."""
    return Engine(ALE, [sys.executable], "ale_worker.py")


def peer_engine(python: Path) -> Engine:
    """Return the engine for EnvPool, in another interpreter; raise ValueError if it has the wrong version."""
    engine = Engine(f"EnvPool {PEER_VERSION}", [str(python), *PEER_FLAGS])
    found = engine.ask("hello")["version"]
    if found != PEER_VERSION:
        engine.__exit__()
        raise ValueError(f"the peer must be EnvPool {PEER_VERSION}, but its interpreter has envpool {found}")
    return engine


def peer_python(folder: Path) -> Path:
    """Return the interpreter of the venv in `folder`; create the venv and install EnvPool if necessary."""
    python = folder / "bin" / "python"
    if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        raise ValueError(f"{folder} is neither empty nor a venv: choose another folder with --peer-dir")
    if not python.exists():
        print(f"creating a venv in {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    script = f"from importlib.metadata import version; assert version('envpool') == '{PEER_VERSION}'"
    if subprocess.run([python, "-I", "-c", script], stderr=subprocess.DEVNULL).returncode:
        install = [str(python), "-I", "-m", "pip", "install", "--disable-pip-version-check", f"envpool=={PEER_VERSION}"]
        if subprocess.run(install, stdout=sys.stderr, env=os.environ | {"PYTHONPATH": ""}).returncode:
            raise RuntimeError(
                f"EnvPool {PEER_VERSION} could not be installed: it needs Linux and a Python that it has wheels for"
            )
    return python
