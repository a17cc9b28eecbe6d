"""Plays upstream's environment and prints or writes digests of its results.

gfootball 2.10.2 needs gym 0.25, so this program runs with the interpreter of an environment of its own, in which
gfootball, gym 0.25.2 and numpy are installed; it needs nothing of envpool:

    python tests/gfootball/upstream.py --write              # records all cases in digests.json
    python tests/gfootball/upstream.py --add                # records the cases that digests.json lacks
    python tests/gfootball/upstream.py --case NAME ...      # prints the digests of some of them as JSON
    python tests/gfootball/upstream.py --time NAME STEPS    # prints steps per second of CPU time, see benchmarks/
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import recording
from recording import Case, Digests


def make(case, **kwargs):
    """Return the environment of a case, right after Python's generator was seeded."""
    from gfootball.env import create_environment

    random.seed(case.seed)
    others = {"action_set": case.action_set}
    if case.engine_seed is not None:
        others["game_engine_random_seed"] = case.engine_seed
    return create_environment(
        env_name=case.scenario,
        number_of_left_players_agent_controls=case.left,
        number_of_right_players_agent_controls=case.right,
        other_config_options=others,
        **kwargs,
    )


def represent(raw):
    """Return a raw observation in all representations."""
    from gfootball.env.observation_preprocessing import generate_smm
    from gfootball.env.wrappers import Simple115StateWrapper

    return {
        "raw": raw,
        "extracted": generate_smm(raw),
        "simple115": Simple115StateWrapper.convert_observation(raw, False),
        "simple115v2": Simple115StateWrapper.convert_observation(raw, True),
    }


def play(case):
    """Return the digests of a case."""
    env = make(case, representation="raw", rewards="scoring,checkpoints")
    digests = Digests()
    zeros = np.zeros(case.left + case.right, np.float32)
    digests.add(represent(env.reset()), zeros, False)
    done = False
    for action in case.actions:
        if done:
            digests.add(represent(env.reset()), zeros, False)
            done = False
            continue
        raw, reward, done, _ = env.step(action.tolist() if len(action) > 1 else int(action[0]))
        digests.add(represent(raw), np.atleast_1d(reward), bool(done))
    env.close()
    return digests.texts()


def measure(name, steps):
    """Print steps per second of CPU time, resets included, of random actions with minimaps."""
    env = make(Case(name, 1, 0, 0, steps), representation="extracted")
    actions = Case(name, 1, 0, 0, steps).actions[:, 0].tolist()
    env.reset()
    began = time.process_time()
    for action in actions:
        if env.step(action)[2]:
            env.reset()
    print(steps / (time.process_time() - began))


def main():
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--time", nargs=2, metavar=("SCENARIO", "STEPS"))
    arguments = parser.parse_args()
    if arguments.time:
        measure(arguments.time[0], int(arguments.time[1]))
        return
    cases = {str(case): case for case in (*recording.cases(), *recording.whole_episodes())}
    found = recording.recorded() if arguments.add else {}
    for name in cases if arguments.write or arguments.add else arguments.case:
        if name in found:
            continue
        began = time.monotonic()
        found[name] = play(cases[name])
        print(name, round(time.monotonic() - began, 1), file=sys.stderr, flush=True)
    if arguments.write or arguments.add:
        text = json.dumps({"gfootball": recording.VERSION, "cases": found}, indent=1)
        recording.PATH.write_text(text + "\n")
    else:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
