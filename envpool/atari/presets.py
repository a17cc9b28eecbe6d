"""The presets of Atari: the options that papers and libraries use. docs/atari.md has their sources and what differs."""

from __future__ import annotations

from typing import Any

#: Images of Mnih et al. (2015): the last four frames in greyscale, each the maximum of two screens, resized by area.
IMAGES: dict[str, Any] = {
    "stack_num": 4,
    "img_height": 84,
    "img_width": 84,
    "gray_scale": True,
    "use_inter_area_resize": True,
    "maxpool": True,
    "padding_type": "reset",
}

#: Further options that all presets share: the actions of a joystick, and no further infos.
FORMS: dict[str, Any] = {
    "continuous": False,
    "continuous_action_threshold": 0.5,
    "life_loss_info": False,
    "frame_number_info": False,
}

#: Training on Atari since Mnih et al. (2015): lives are episodes, rewards are signs, and 30 minutes end a game.
LIVES: dict[str, Any] = (
    IMAGES
    | FORMS
    | {
        "frame_skip": 4,
        "repeat_action_probability": 0.0,
        "noop_max": 30,
        "episodic_life": True,
        "zero_discount_on_life_loss": False,
        "reward_clip": True,
        "full_action_space": False,
        "max_episode_steps": 27_000,
    }
)

#: Options by the name of their preset.
PRESETS: dict[str, dict[str, Any]] = {
    # Machado et al. (2018): sticky actions are the only randomness, and 5 minutes (18,000 frames) end a game.
    "machado2018": IMAGES
    | FORMS
    | {
        "frame_skip": 5,
        "repeat_action_probability": 0.25,
        "noop_max": 0,
        "use_fire_reset": False,
        "episodic_life": False,
        "zero_discount_on_life_loss": False,
        "reward_clip": False,
        "full_action_space": True,
        "max_episode_steps": 3_600,
    },
    # Mnih et al. (2015), in training.
    "dqn": LIVES | {"use_fire_reset": False},
    # CleanRL's ppo_atari_envpool.py.
    "ppo-cleanrl": LIVES | {"use_fire_reset": True},
    # make_atari_env of Stable-Baselines3, with VecFrameStack(n_stack=4).
    "sb3": LIVES | {"use_fire_reset": True},
    # make_atari_env of sf_examples.envpool.
    "sample-factory": LIVES | {"use_fire_reset": True},
}
