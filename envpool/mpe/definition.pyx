"""Environments from scenarios: batches, saved states, parameters, frames, and the definition itself.

An environment equals ``parallel_env()`` of upstream's module after a reset with its seed. The next episodes continue
its generator.
"""

import numpy as np

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset, strncpy

from envpool.env cimport (
    ENVPOOL_NO_MEMORY, envpool_batch, envpool_env, envpool_frames, envpool_params, envpool_rows, envpool_setup,
)
from envpool.mpe.frames cimport FRAME_SIZE, draw_world
from envpool.mpe.world cimport (
    ALL, MAX_NAME, Config, Kind, Rules, World, num_doubles, put_zeros, reset_world, step_world,
)
from envpool.raster.canvas cimport canvas
from envpool.raster.scaled cimport scaled_begin, scaled_canvas, scaled_end, scaled_finish, scaled_frames
from envpool.records cimport (
    envpool_create_records, envpool_new_records_env, envpool_record, envpool_records, envpool_records_config,
    envpool_template,
)
from envpool.scaffold cimport envpool_no_memory_text, envpool_state

from envpool.config.checks import check_range
from envpool.native import Field, define, param_fields

# ---- batches ---------------------------------------------------------------------------------------------------------


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef const Config* c = <const Config*>s.config
    cdef World* w
    cdef int64_t row
    cdef int32_t i
    for i in range(b.n):
        w = <World*>envpool_record(s, b.ids[i])
        if b.reset[i]:
            reset_world(w, c)
            continue
        row = <int64_t>b.ids[i] * c.num_agents
        step_world(w, c, b.actions[0], row, b.player_reward + row)
        # Upstream truncates an episode without asking whether it has succeeded.
        b.terminated[i] = c.terminates_on_success and w.is_success and w.steps < c.max_cycles
    return 0


cdef void write_figures(const World* w, const Config* c, double* figures) noexcept nogil:
    cdef int32_t a
    memset(figures, 0, c.num_agents * c.num_figures * sizeof(double))
    for a in range(c.num_agents):
        c.rules.measure(w, c, a, figures + a * c.num_figures)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef const Config* c = <const Config*>s.config
    cdef const World* w
    cdef float* obs
    cdef int32_t i, k, a, first
    for i in range(rows.n):
        w = <const World*>envpool_record(s, rows.ids[i])
        obs = <float*>rows.fields[0] + rows.player_rows[i] * c.obs_size
        first = 0
        for k in range(c.num_kinds):
            if not c.kinds[k].is_agent:
                break
            for a in range(first, first + c.kinds[k].count):
                c.rules.observe(w, c, a, obs)
                put_zeros(obs + c.kinds[k].obs_size, c.obs_size - c.kinds[k].obs_size)
                obs += c.obs_size
            first += c.kinds[k].count
        if c.num_figures > 0:
            write_figures(w, c, <double*>rows.fields[1] + rows.player_rows[i] * c.num_figures)


# ---- states and parameters -------------------------------------------------------------------------------------------


cdef size_t size_for(const void* config) noexcept nogil:
    return sizeof(World) + num_doubles(<const Config*>config) * sizeof(double)


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    cdef const World* w = <const World*>record
    cdef const Config* c = <const Config*>config
    cdef int32_t last = max(c.num_landmarks - 1, 0)
    if not (0 <= w.goal <= last and 0 <= w.second_goal <= last):
        return 0
    if not 0 <= w.stage <= c.last_stage or w.steps < 0:
        return 0
    return c.rules.is_valid == NULL or c.rules.is_valid(w, c)


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    """Create the records, with the stage of the curriculum that the options have."""
    cdef int status = envpool_create_records(setup, state)
    cdef const envpool_state* s
    cdef int32_t i
    if status == 0:
        s = <const envpool_state*>state[0]
        for i in range(s.num_envs):
            (<World*>envpool_record(s, i)).stage = (<const Config*>s.config).first_stage
    return status


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef int32_t i
    for i in range(call.n):
        (<int64_t*>call.values[0])[call.ids[i]] = (<World*>envpool_record(s, call.ids[i])).stage
    return 0


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef int32_t i
    for i in range(call.n):
        (<World*>envpool_record(s, call.ids[i])).stage = <int32_t>(<const int64_t*>call.values[0])[call.ids[i]]
    return 0


# ---- frames ----------------------------------------------------------------------------------------------------------


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const envpool_state* s = <const envpool_state*>state
    cdef scaled_frames scaled
    cdef canvas frame
    cdef int32_t i
    if not scaled_begin(&scaled, f, FRAME_SIZE, FRAME_SIZE):
        return ENVPOOL_NO_MEMORY
    for i in range(f.n):
        frame = scaled_canvas(&scaled, i)
        draw_world(<const World*>envpool_record(s, f.ids[i]), <const Config*>s.config, &frame, f.assets)
        scaled_finish(&scaled, i)
    scaled_end(&scaled)
    return 0


# ---- definitions -----------------------------------------------------------------------------------------------------


cdef envpool_records WORLDS
WORLDS.size_for, WORLDS.is_valid = size_for, is_valid

SCENARIOS = []                  # keeps what definitions point to


cdef object new_scenario(const char* name, Rules rules, bint has_stages=0):
    cdef ScenarioFunctions functions = ScenarioFunctions.__new__(ScenarioFunctions)
    cdef envpool_env* env_def = &functions.env_def
    functions.rules = rules
    env_def[0] = envpool_new_records_env(name, &WORLDS)
    env_def.create, env_def.step_many, env_def.write_many = create, step_many, write_many
    env_def.render_many, env_def.frame_height, env_def.frame_width = render_many, FRAME_SIZE, FRAME_SIZE
    env_def.error_text = envpool_no_memory_text
    if has_stages:
        env_def.get_params, env_def.set_params = get_params, set_params
    SCENARIOS.append(functions)
    return functions


cdef void add_kind(Config* c, object kind):
    cdef Kind* k = &c.kinds[c.num_kinds]
    k.count, k.obs_size, k.size, k.mass = kind.count, kind.obs_size, kind.size, kind.mass
    k.is_agent, k.is_movable = kind.is_agent, kind.is_agent and kind.is_movable
    k.collides, k.speaks = kind.collides, kind.speaks
    k.force, k.max_speed = kind.force, kind.max_speed
    k.colour[0], k.colour[1], k.colour[2] = kind.colour
    strncpy(k.name, kind.name.encode(), MAX_NAME - 1)
    if kind.slows_down:
        c.slow_kind = c.num_kinds
    c.num_kinds += 1
    if kind.is_agent:
        c.num_agents += k.count
    else:
        c.num_landmarks += k.count
    c.num_entities += k.count


cdef int neighbours_of(object config, str name) except? -1:
    """Return how many neighbours an agent observes, or ALL."""
    count = getattr(config, name, None)
    return ALL if count is None else count


cdef class ScenarioFunctions:
    """The functions of a scenario."""

    cdef Rules rules
    cdef envpool_env env_def

    def define(self, scenario, config, num_figures=0, num_extra=0):
        """Return the capsule of a scenario, with figures about each agent and doubles of its own in a record."""
        cdef Config c
        memset(&c, 0, sizeof(c))
        c.slow_kind = -1
        kinds = scenario.entities(config)
        for kind in kinds:
            add_kind(&c, kind)
        is_continuous, symbols = config.continuous_actions, scenario.symbols
        sizes = [kind.action_size(symbols, is_continuous) for kind in kinds if kind.is_agent for _ in range(kind.count)]
        c.rules, c.is_continuous, c.dim_c, c.max_cycles = &self.rules, is_continuous, symbols, config.max_episode_steps
        c.obs_size, c.action_size = max(kind.obs_size for kind in kinds), max(sizes) if is_continuous else 1
        c.has_dynamic_rescaling = config.dynamic_rescaling
        c.terminates_on_success = getattr(config, "terminate_on_success", False)
        c.has_curriculum = getattr(config, "curriculum", False)
        c.num_types, c.num_extra = getattr(config, "num_deposits", 0), num_extra
        c.local_ratio = getattr(config, "local_ratio", 0)
        check_range("local_ratio", c.local_ratio, 0, 1)
        if "curriculum_stage" in scenario.params:
            c.first_stage, c.last_stage = config.curriculum_stage, scenario.params["curriculum_stage"].high
        c.agent_neighbours = neighbours_of(config, "num_agent_neighbors")
        c.landmark_neighbours = neighbours_of(config, "num_landmark_neighbors")
        fields = [Field("obs", np.float32, (-1, c.obs_size))]
        if getattr(config, "benchmark_data", False):
            c.num_figures = num_figures
            fields.append(Field("info:benchmark_data", np.float64, (-1, num_figures)))
        if is_continuous:
            actions = [Field("action", np.float32, (-1, c.action_size), 0, 1)]
        else:
            actions = [Field("action", np.int32, (-1,), 0, [size - 1 for size in sizes])]
        return define(
            envpool_template(&self.env_def), fields, actions, envpool_records_config(&WORLDS, &c, sizeof(c)),
            params=param_fields(scenario.params), max_num_players=c.num_agents,
        )
