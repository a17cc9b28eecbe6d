"""Where the fields are in what Procgen's library writes, written down a second time."""

from __future__ import annotations

import struct
from collections.abc import Iterable

ENTITY = 124  # bytes of an entity


def names_of(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


OPTIONS = names_of(
    """
    paint_vel_info use_generated_assets use_monochrome_assets restrict_themes use_backgrounds center_agent
    debug_mode distribution_mode use_sequential_levels use_easy_jump plain_assets physics_mode grid_step
    level_seed_low level_seed_high game_type game_n
    """
)
EPISODE = names_of(
    """
    reward done level_complete action timeout current_level_seed prev_level_seed episodes_remaining episode_done
    last_reward_timer last_reward default_action fixed_asset_seed cur_time is_waiting_for_step grid_size
    """
)
LATER = names_of(
    """
    use_procgen_background background_index bg_tile_ratio bg_pct_x char_dim last_move_action move_action
    special_action mixrate maxspeed max_jump action_vx action_vy action_vrot center_x center_y
    random_agent_start has_useful_vel_info step_rand_int
    """
)
WORLD = names_of(
    """
    main_width main_height out_of_bounds_object unit view_dim x_off y_off visibility min_visibility grid_width
    grid_height cells
    """
)
OF_ENTITY = names_of(
    """
    x y vx vy rx ry type image_type image_theme render_z will_erase collides_with_entities collision_margin
    rotation vrot is_reflected fire_time spawn_time life_time expire_time use_abs_coords friction smart_step
    avoids_collisions auto_erase alpha health theta grow_rate alpha_decay climber_spawn_x
    """
)
assert 4 * len(OF_ENTITY) == ENTITY


class Layout:
    """Offsets in the bytes of one state.

    Attributes
    ----------
    at : dict of str to int
        Offsets of the fields that every game has; those of generators are the offsets of the lengths of their texts.
    entities : list of int
        Offset of each entity.
    extras : int
        Offset of what only this game writes.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = {"length": 4}
        self.entities = []
        self.end = 8 + self.int_at(4)
        self.add(OPTIONS)
        self.add_generator("level_seed_rand_gen")
        self.add_generator("rand_gen")
        self.add([*EPISODE, "num_entities"])
        for _ in range(self.int_at(self.at["num_entities"])):
            self.entities.append(self.end)
            self.end += ENTITY
        self.add(LATER)
        self.add_generator("asset_rand_gen")
        self.add(WORLD)
        self.grid = self.end
        self.extras = self.end + 4 * self.int_at(self.at["cells"])

    def int_at(self, at: int) -> int:
        return int(struct.unpack_from("<i", self.data, at)[0])

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self.at[name] = self.end
            self.end += 4

    def add_generator(self, name: str) -> None:
        self.add([f"{name}_is_seeded", name])
        self.end += self.int_at(self.at[name])

    def entity(self, type_id: int, field: str) -> int:
        """Return the offset of a field of the first entity of a type."""
        types = [self.int_at(at + 4 * OF_ENTITY.index("type")) for at in self.entities]
        return self.entities[types.index(type_id)] + 4 * OF_ENTITY.index(field)
