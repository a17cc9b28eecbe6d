"""What to do with a learned policy: evaluate it, and record a video of it."""

import os
from pathlib import Path

import numpy as np

import envpool
from envpool._support.files import check_output as check_file
from envpool.cli.main import main as envpool_command
from envpool.cli.watch.output import check_output as check_video
from envpool.errors import ConfigError

#: Seed of evaluations, far from the seeds of training.
SEED = 1_000_000

#: Most steps of an evaluation; the longest episodes of Atari games have 27,000.
MAX_STEPS = 100_000


def evaluate(act, task, num_envs=100, seed=SEED, max_steps=MAX_STEPS, **options):
    """Return the returns (num_envs,) of one episode in each environment of a new pool.

    Parameters
    ----------
    act : callable
        Takes observations and returns actions.
    task : str
        Id of the task.
    num_envs : int
        Number of environments.
    seed : int
        Environment i gets the seed ``seed + i``.
    max_steps : int
        Number of steps after which a RuntimeError is raised if an episode has not ended.
    **options
        Options of the task, and values of its parameters.
    """
    steps = 0
    with envpool.make_gymnasium(task, num_envs=num_envs, seed=seed, autoreset_mode="disabled", **options) as pool:
        obs, _ = pool.reset()
        playing, total = np.arange(num_envs), np.zeros(num_envs)
        while len(playing):
            if steps == max_steps:
                raise RuntimeError(
                    f"{len(playing)} of {num_envs} episodes of {task!r} have not ended after max_steps={max_steps} "
                    "steps: pass max_episode_steps=N, which truncates episodes, or a larger max_steps"
                )
            steps += 1
            obs, reward, terminated, truncated, _ = pool.step(act(obs), playing)
            total[playing] += reward
            going = ~(terminated | truncated)
            obs = {name: x[going] for name, x in obs.items()} if isinstance(obs, dict) else obs[going]
            playing = playing[going]
    return total


def check_files(saved, video):
    """Make the folders of files that are to be written, and exit with a message if they cannot be; None is no file."""
    if video and Path(video).suffix not in (".mp4", ".gif"):
        raise SystemExit(f"--capture-video must end in .mp4 or .gif, got {video!r}")
    try:
        for path in filter(None, (saved, video)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            check_file(Path(path))
        if video:
            check_video(Path(video))
    except (ConfigError, ImportError, OSError) as error:
        raise SystemExit(str(error)) from error


def watch_arguments(task, options, script, saved):
    """Return the arguments of the command ``envpool`` that shows a saved policy; the script has a function `load`."""
    given = [word for name, value in options.items() for word in ("--option", f"{name}={value}")]
    return ["watch", task, *given, "--policy", f"{os.path.relpath(script)}:load", "--load", str(saved)]


def record(video, *arguments):
    """Write a video of a saved policy; see `watch_arguments` for the other parameters."""
    if envpool_command([*watch_arguments(*arguments), "--out", str(video)]):
        raise SystemExit(f"the video {video} could not be written")
