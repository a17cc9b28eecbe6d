"""Text for errors: short reprs of values, and the names that a user may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: Characters of a value in an error.
MAX_SHOWN = 200

#: Names that libraries have for the same option.
SYNONYMS = (
    {"num_envs", "n_envs", "nenvs", "num_env", "n_env"},
    {"num_threads", "n_threads", "threads", "num_workers", "n_jobs"},
    {"stack_num", "frame_stack", "framestack", "num_stack", "n_stack", "stack_size", "num_stacked_frames"},
    {"frame_skip", "frameskip", "action_repeat"},
    {"gray_scale", "grayscale", "grayscale_obs", "greyscale"},
    {"episodic_life", "episode_life", "terminal_on_life_loss", "use_terminal_on_life_loss"},
    {"reward_clip", "clip_reward", "clip_rewards", "reward_clipping"},
    {"repeat_action_probability", "sticky_actions", "sticky_action_prob", "sticky_action_probability"},
    {"img_height", "img_width", "screen_size", "img_size", "resize"},
    {"max_episode_steps", "max_steps", "max_episode_length", "time_limit"},
    {"float32_obs", "dtype", "obs_dtype"},
    {"require_finite_actions", "check_actions"},
    {"autoreset_mode", "autoreset", "auto_reset"},
)


def shown(value: Any) -> str:
    """Return the text of a value for an error: its ``repr``, of which only the beginning is kept if it is long.

    >>> shown([0] * 1000)[-30:]
    ', 0, 0, ... (3000 characters)'
    """
    try:
        text = repr(value)
    except Exception as error:  # of a class of the user, or of an int with too many digits
        return f"an object of type {type(value).__name__} that has no text ({type(error).__name__})"
    return shortened(text)


def shortened(text: str) -> str:
    """Return a text for an error; of a long one, only the beginning and its length."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... ({len(text)} characters)"


def similar_names(name: str, known: Sequence[str], count: int = 3) -> list[str]:
    """Return the known names that mean the same in other libraries, or else those that are spelt similarly."""
    groups = [group for group in SYNONYMS if name.lower() in group]
    same = [k for k in known if any(k in group for group in groups)]
    return same or difflib.get_close_matches(name, known, n=count)


def stem(task_id: str) -> str:
    """Return a task id in lower case, without its namespace and version: ``"ALE/Pong-v5"`` gives ``"pong"``."""
    return re.sub(r"-v\d+$", "", task_id.rpartition("/")[2].lower())


def version(task_id: str) -> int:
    """Return the version of a task id, 0 if it has none."""
    found = re.search(r"-v(\d+)$", task_id)
    return int(found[1]) if found else 0


def similar_tasks(task_id: str, known: Iterable[str], count: int = 4) -> list[str]:
    """Return the known task ids that a user may have meant.

    These are other versions of the task and tasks whose name it begins; else the task whose name begins the given one;
    else tasks with a similar name. Ids with a namespace are left out if the user gave none and others fit.
    New versions come first.
    """
    ids, wanted = list(known), stem(task_id)
    found = [i for i in ids if len(wanted) > 2 and stem(i).startswith(wanted)]
    if not found:
        begins = [i for i in ids if wanted.startswith(stem(i))]
        longest = max((len(stem(i)) for i in begins), default=0)
        found = [i for i in begins if len(stem(i)) == longest > 2]
    near = [wanted]
    if not found:
        near = difflib.get_close_matches(wanted, dict.fromkeys(map(stem, ids)), n=count, cutoff=0.7)
        found = [i for i in ids if stem(i) in near]
    plain = [i for i in found if "/" not in i]
    found = plain if plain and "/" not in task_id else found
    namespace = task_id.rpartition("/")[0].lower()

    def rank(name: str) -> tuple[int, bool, int]:
        similarity = near.index(stem(name)) if stem(name) in near else len(near)
        return similarity, name.rpartition("/")[0].lower() != namespace, -version(name)

    return sorted(found, key=rank)[:count]
