"""The self-test: small pools of each family step and render, and two runs with the same seed must agree."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from envpool._support.diagnosis import NOTE, PROBLEM, Finding, run_python
from envpool.cli.doctor.parallel import parallel
from envpool.errors import EnvPoolError
from envpool.registration import make_gymnasium, make_spec
from envpool.sampling.sampler import Sampler
from envpool.tasks.entries import family_of
from envpool.tasks.registry import registry
from envpool.verify.records import as_reset, batch_record

TITLE = "self-test"
#: Env definitions of each family that are tested, steps of their pools, and environments in them.
DEFINITIONS, STEPS, NUM_ENVS = 3, 20, 4
CHILD = "import sys; from envpool.cli.doctor.self_test import main; main(sys.argv[1])"
#: Advice for a failure that no installation explains.
REPORT = "`envpool verify TASK` shows where results differ; please report it with the output of `envpool doctor --json`"


def findings() -> list[Finding]:
    """Return the result of each family of this package; each is tested in its own process."""
    return parallel(test_in_child, list(tasks()))


def tasks() -> dict[str, list[str]]:
    """Return the tasks that are tested by family: the first one of each of its first env definitions."""
    chosen: dict[str, dict[tuple[str, str | None], str]] = {}
    for task_id, entry in registry.tasks.items():
        if entry.import_path.startswith("envpool."):
            definitions = chosen.setdefault(family_of(entry), {})
            if len(definitions) < DEFINITIONS:
                definitions.setdefault((entry.import_path, entry.env), task_id)
    return {name: list(definitions.values()) for name, definitions in chosen.items()}


def test_in_child(name: str) -> Finding:
    """Return the result of a family, which is tested in another process."""
    succeeded, text = run_python(CHILD, name)
    if not succeeded:
        return Finding(name, text, PROBLEM, REPORT)
    return Finding(**json.loads(text.splitlines()[-1]))


def main(name: str) -> None:
    """Test a family and print the finding as JSON."""
    print(json.dumps(asdict(test_family(name, tasks()[name]))))


def test_family(name: str, task_ids: list[str]) -> Finding:
    """Return the result of the tasks of a family."""
    frames = 0
    reasons: list[str] = []
    for task_id in task_ids:
        try:
            spec = make_spec(task_id)
            spec.definition.check_requirements(spec.common_config)
        except ImportError as error:
            return Finding(name, "not available", NOTE, " ".join(str(error).split()))
        try:
            frames += test_task(task_id)
        except ImportError as error:
            reasons.append(" ".join(str(error).split()))
        except Exception as error:
            text = " ".join(f"{task_id}: {type(error).__name__}: {error}".split())
            return Finding(name, text, PROBLEM, REPORT)
    text = f"two runs agree over {STEPS} steps: {', '.join(task_ids)}"
    if reasons:
        return Finding(name, f"{text}; frames cannot be rendered", NOTE, reasons[0])
    return Finding(name, f"{text}; {frames} frames" if frames else text)


class DisagreementError(EnvPoolError, RuntimeError):
    """Two runs with the same seed did not return the same bits."""


def test_task(task_id: str) -> int:
    """Run a task twice, and return the number of frames.

    Raises
    ------
    DisagreementError
        The runs differ.
    ImportError
        Something is missing that frames need; the steps have been compared.
    """
    has_frames = make_spec(task_id).frame_size is not None
    compare(run(task_id), run(task_id))
    if not has_frames:
        return 0
    compare(*(run(task_id, render_mode="rgb_array") for _ in range(2)))
    return NUM_ENVS


def run(task_id: str, **options: Any) -> list[dict[str, Any]]:
    """Return the records of a pool with random actions, with frames if it has a render mode."""
    with make_gymnasium(task_id, num_envs=NUM_ENVS, seed=1, **options) as pool:
        records = [batch_record(*as_reset(*pool.reset()))]
        sampler = Sampler(2)
        for _ in range(STEPS):
            records.append(batch_record(*pool.step(pool.sample_actions(sampler))))
        if options:
            records.append({"frame": np.array(pool.render(np.arange(NUM_ENVS)))})
    return records


def compare(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    """Raise DisagreementError if two runs differ in a bit."""
    for step, (one, other) in enumerate(zip(first, second, strict=True)):
        for name, array in one.items():
            if array.tobytes() != other[name].tobytes():
                raise DisagreementError(f"{name} differs in two runs with the same seed, first at step {step}")
