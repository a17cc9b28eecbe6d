"""The task table, what make() accepts and refuses, what an import loads, and the names that clients import."""

import importlib
import inspect
import pickle
import sys

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, UnknownTaskError
from envpool.pools.classes import pool_class
from envpool.registration import registry
from envpool.tasks.registry import EnvRegistry
from envpool.tasks.resolve import resolve_entry
from envpool.tasks.spec import spec_class_of
from tests.support.python import output_of
from tests.support.tasks import playable_tasks

# ---- importing -------------------------------------------------------------------------------------------------------


def test_importing_loads_neither_numpy_nor_gymnasium_nor_a_simulator():
    loaded = output_of("import sys, envpool; print(*sys.modules)").split()
    assert "envpool.registration" in loaded
    for name in ("numpy", "gymnasium", "gym", "dm_env", "mujoco", "ale_py", "torch", "jax", "importlib.metadata"):
        assert name not in loaded, name
    assert not [name for name in loaded if name.startswith("envpool._core")]
    assert not [task for task in registry.tasks.values() if task.import_path in loaded]


def test_listing_tasks_loads_no_simulator():
    loaded = output_of("import sys, envpool; envpool.list_all_envs(); print(*sys.modules)").split()
    assert "envpool.classic_control.registration" in loaded
    assert "envpool.classic_control.cartpole" not in loaded
    assert "numpy" not in loaded


def test_making_loads_one_simulator():
    loaded = output_of("import sys, envpool; envpool.make_spec('CartPole-v1'); print(*sys.modules)").split()
    simulators = [task.import_path for task in registry.tasks.values()]
    assert [name for name in loaded if name in simulators] == ["envpool.classic_control.cartpole"]


def test_public_names():
    expected = {"register", "make", "make_dm", "make_gym", "make_gymnasium", "make_spec", "list_all_envs"}
    expected |= {"EnvSpec", "EnvPool", "DMEnvPool", "GymnasiumEnvPool", "Rollout", "get_include", "errors", "rollout"}
    expected |= {"make_mujoco", "make_python", "make_vec"}
    expected |= {"EnvStates", "Param", "PoolStats", "ReplayBuffer", "RolloutData", "Texts"}
    expected |= {"evaluate", "record", "Evaluation", "Recording", "Curriculum", "GymPool"}
    assert set(envpool.__all__) == expected
    for name in envpool.__all__:
        assert getattr(envpool, name) is not None
    assert dir(envpool) == sorted(expected | {"__version__"}), "what a shell completes"
    assert isinstance(envpool.__version__, str)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = envpool.nothing


def test_public_names_of_rollouts():
    from envpool.rollout import ReplayBuffer, Rollout, RolloutData

    assert (ReplayBuffer, Rollout, RolloutData) == (envpool.ReplayBuffer, envpool.Rollout, envpool.RolloutData)
    assert {"ReplayBuffer", "Rollout", "RolloutData", "Transitions"} <= set(envpool.rollout.__all__)


def test_every_exception_has_one_base_class():
    errors = envpool.errors
    classes = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, BaseException)]
    assert sorted(cls.__name__ for cls in classes) == errors.__all__
    assert all(issubclass(cls, errors.EnvPoolError) for cls in classes)
    with pytest.raises(errors.EnvPoolError, match=r"^Nothing-v0 is not supported"):
        envpool.make_spec("Nothing-v0")


def test_envpools_module_paths():
    from envpool.atari.registration import atari_game_list
    from envpool.python import protocol
    from envpool.python.envpool import EnvPoolMixin
    from envpool.python.protocol import ArraySpec, DMEnvPool, EnvPool, EnvSpec, GymnasiumEnvPool
    from envpool.registration import (  # noqa: F401
        list_all_envs,
        make,
        make_dm,
        make_gym,
        make_gymnasium,
        make_spec,
        register,
        registry,
    )

    assert "ms_pacman" in atari_game_list and atari_game_list == sorted(atari_game_list)
    for name in ("ActionInput", "InfoDict", "ObsType", "GymnasiumStepReturn", "TimeStep"):
        assert hasattr(protocol, name)
    with envpool.make_gymnasium("CartPole-v1") as pool:
        assert isinstance(pool, EnvPoolMixin)
        assert isinstance(pool, EnvPool)
        assert isinstance(pool, GymnasiumEnvPool)
        assert not isinstance(pool, DMEnvPool)
        assert isinstance(pool.spec, EnvSpec)
        assert isinstance(pool.spec.state_array_spec["obs"], ArraySpec)


#: Modules that EnvPool 1.2.5 shows after ``import envpool``, of the families that both packages have.
MODULES = [
    *("registration", "entry", "python.api", "python.data", "python.dm_envpool", "python.env_spec", "python.envpool"),
    *("python.gymnasium_envpool", "python.protocol", "mujoco.dmc", "mujoco.gym", "mujoco.robotics"),
    *("atari", "box2d", "classic_control", "minigrid", "procgen", "toy_text", "vizdoom"),
]


def test_modules_that_need_no_import():
    families = [name for name in MODULES if name.startswith("mujoco.") or MODULES.index(name) > MODULES.index("atari")]
    names = [*MODULES, "atari.registration", *(f"{name}.registration" for name in families)]
    code = f"""
import envpool, operator
for name in {names}:
    assert operator.attrgetter(name)(envpool).__name__ == "envpool." + name, name
print(envpool.python.EnvSpec is envpool.EnvSpec, envpool.entry.tasks is envpool.registration.registry.tasks)
print([hasattr(envpool, name) for name in ("nothing", "_core2", "a.b", "mujoco2")])
print([hasattr(envpool.mujoco, "nothing"), hasattr(envpool.python, "nothing")])
"""
    assert output_of(code) == "True True\n[False, False, False, False]\n[False, False]\n"


@pytest.mark.parametrize("name", ["glfw_context", "lax", "utils", "xla_template"])
def test_modules_of_envpools_implementation(name):
    with pytest.raises(
        AttributeError, match=rf"envpool\.python\.{name} is a part of EnvPool's implementation, not here: "
    ):
        getattr(envpool.python, name)


def test_envpools_names_of_classes():
    from envpool.box2d import LunarLanderContinuousDMEnvPool, LunarLanderContinuousEnvSpec, LunarLanderDiscreteEnvSpec
    from envpool.mujoco.gym import GymAntPixelEnvSpec, GymAntPixelGymnasiumEnvPool
    from envpool.mujoco.robotics import (
        GymnasiumRoboticsFetchEnvSpec,
        GymnasiumRoboticsKitchenEnvSpec,
        GymnasiumRoboticsPointMazeEnvSpec,
    )
    from envpool.vizdoom import VizdoomEnvSpec

    assert LunarLanderDiscreteEnvSpec is type(envpool.make_spec("LunarLander-v3"))
    spec = LunarLanderContinuousEnvSpec(LunarLanderContinuousEnvSpec.gen_config(num_envs=2))
    assert spec.action_space == envpool.make_spec("LunarLanderContinuous-v3").action_space
    assert pickle.loads(pickle.dumps(spec)) == spec
    with LunarLanderContinuousDMEnvPool(spec) as pool:
        assert pool.reset().observation.obs.shape == (2, 8)
    spec = GymAntPixelEnvSpec(GymAntPixelEnvSpec.gen_config())
    assert spec.observation_space.shape == (3, 84, 84)
    assert GymAntPixelGymnasiumEnvPool.__name__ == "GymAntPixelGymnasiumEnvPool"
    for cls in (GymnasiumRoboticsFetchEnvSpec, GymnasiumRoboticsKitchenEnvSpec, GymnasiumRoboticsPointMazeEnvSpec):
        assert issubclass(cls, envpool.EnvSpec)
    assert VizdoomEnvSpec.gen_config().img_height == 84
    with pytest.raises(ImportError, match="LunarLanderPixelEnvSpec"):
        from envpool.box2d import LunarLanderPixelEnvSpec  # noqa: F401


def test_envpools_classes_that_stand_for_several_environments():
    from envpool.minigrid import MiniGridDMEnvPool, MiniGridEnvSpec, MiniGridGymnasiumEnvPool
    from envpool.mujoco.robotics import GymnasiumRoboticsAdroitEnvSpec, GymnasiumRoboticsHandEnvSpec

    config = MiniGridEnvSpec.gen_config(env_name="door_key", size=5, num_envs=2, seed=1)
    spec = MiniGridEnvSpec(config)
    with MiniGridGymnasiumEnvPool(spec) as pool, envpool.make_gymnasium("MiniGrid-DoorKey-5x5-v0", num_envs=2) as made:
        assert isinstance(pool, MiniGridGymnasiumEnvPool) and isinstance(made, MiniGridGymnasiumEnvPool)
        assert not isinstance(made, (MiniGridDMEnvPool, MiniGridEnvSpec))
        assert isinstance(made.spec, MiniGridEnvSpec) and isinstance(spec, MiniGridEnvSpec)
        assert type(pool) is type(made)
    assert MiniGridEnvSpec is envpool.minigrid.MiniGridEnvSpec
    default = MiniGridEnvSpec(MiniGridEnvSpec.gen_config())
    assert type(default).__name__ == "MiniGridEmptyEnvSpec"
    with pytest.raises(ConfigError, match=r"env_name must be one of empty, .* got 'wfc'"):
        MiniGridEnvSpec.gen_config(env_name="wfc")
    with pytest.raises(TypeError, match="num_rows"):
        MiniGridEnvSpec.gen_config(num_rows=3)
    with pytest.raises(TypeError, match=r"must be a configuration of gen_config of .*, got 3"):
        MiniGridEnvSpec(3)
    for level in envpool.minigrid.LEVELS:
        MiniGridEnvSpec.gen_config(env_name=level)
    hand = GymnasiumRoboticsHandEnvSpec(GymnasiumRoboticsHandEnvSpec.gen_config(hand_task="reach"))
    assert isinstance(hand, GymnasiumRoboticsHandEnvSpec) and not isinstance(hand, GymnasiumRoboticsAdroitEnvSpec)
    for task in ("door", "hammer", "pen", "relocate"):
        GymnasiumRoboticsAdroitEnvSpec.gen_config(adroit_task=task)


def test_pools_are_instances_of_the_classes_that_envpool_names():
    from envpool.box2d import LunarLanderContinuousDMEnvPool as DMEnvPool
    from envpool.box2d import LunarLanderContinuousEnvSpec as Spec
    from envpool.box2d import LunarLanderContinuousGymnasiumEnvPool as Pool
    from envpool.minigrid import MiniGridEnvSpec, MiniGridGymnasiumEnvPool
    from envpool.mujoco.gym import GymAntPixelEnvSpec, GymWalker2dPixelEnvSpec

    for task, options in (("LunarLanderContinuous-v3", {}), ("LunarLander-v2", {"continuous": True})):
        with envpool.make_gymnasium(task, **options) as pool:
            assert isinstance(pool, Pool) and not isinstance(pool, DMEnvPool)
            assert isinstance(pool.spec, Spec)
    with envpool.make_dm("LunarLanderContinuous-v2") as pool, envpool.make_gymnasium("LunarLander-v3") as discrete:
        assert isinstance(pool, DMEnvPool) and not isinstance(pool, Pool)
        assert not isinstance(discrete, Pool)
        assert not isinstance(discrete.spec, Spec)
    spec = Spec(Spec.gen_config())
    with Pool(spec) as pool:
        assert isinstance(pool, Pool) and isinstance(spec, Spec)
    assert not any(isinstance(value, Spec) for value in (None, 3, envpool))
    pixels = envpool.make_spec("Ant-v5", from_pixels=True)
    assert isinstance(pixels, GymAntPixelEnvSpec) and not isinstance(pixels, GymWalker2dPixelEnvSpec)
    assert not isinstance(envpool.make_spec("Ant-v5"), GymAntPixelEnvSpec)
    with envpool.make_gymnasium("BabyAI-GoToLocal-v0") as pool:
        assert isinstance(pool, MiniGridGymnasiumEnvPool) and isinstance(pool.spec, MiniGridEnvSpec)
    assert MiniGridEnvSpec.gen_config(env_name="babyai_goto_red_ball_no_dists").num_dists == 0


#: Beginnings of EnvPool's names of classes that are not names of environments here, by family, and their environments.
NAMED = {
    "minigrid": {"MiniGrid": ("MiniGrid", "BabyAI")},
    "vizdoom": {"Vizdoom": ("ViZDoom",)},
    "mujoco.robotics": {
        "GymnasiumRoboticsFetch": ("Fetch",),
        "GymnasiumRoboticsHand": ("Hand",),
        "GymnasiumRoboticsAdroit": ("Adroit",),
        "GymnasiumRoboticsKitchen": ("FrankaKitchen",),
        "GymnasiumRoboticsPointMaze": ("PointMaze",),
    },
}


@pytest.mark.parametrize("family", NAMED)
def test_every_task_of_a_family_is_in_the_class_that_envpool_names(family):
    package = importlib.import_module(f"envpool.{family}")
    for task in registry.tasks.values():
        for name, envs in NAMED[family].items():
            if task.import_path.startswith(f"envpool.{family}.") and task.env.startswith(envs):
                cls = getattr(package, f"{name}EnvSpec")
                spec_cls = spec_class_of(task)
                assert isinstance(object.__new__(spec_cls), cls) or issubclass(spec_cls, cls), task.task_id


def test_classes_of_a_family():
    from envpool.classic_control import CartPoleDMEnvPool, CartPoleEnvSpec, CartPoleGymnasiumEnvPool

    spec = CartPoleEnvSpec(CartPoleEnvSpec.gen_config(num_envs=2))
    with CartPoleGymnasiumEnvPool(spec) as pool, envpool.make_gymnasium("CartPole-v1", num_envs=2) as made:
        assert type(pool) is type(made)
        assert pool.reset()[0].tobytes() == made.reset()[0].tobytes()
    with CartPoleDMEnvPool(spec) as pool:
        assert pool.reset().observation.obs.shape == (2, 4)
    with pytest.raises(ImportError, match="FooEnvSpec"):
        from envpool.classic_control import FooEnvSpec  # noqa: F401


def test_module_that_was_not_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "envpool.box2d.lunar_lander", None)
    with pytest.raises(
        ImportError, match=r"envpool\.box2d\.lunar_lander is not in this build.*--no-binary envpool-cython"
    ):
        envpool.make_gymnasium("LunarLander-v3")
    envpool.make_gymnasium("BipedalWalker-v3").close()


def test_every_kind_of_env_has_its_classes():
    for task in registry.tasks.values():
        if task.env is None or not task.import_path.startswith("envpool."):
            continue
        family = importlib.import_module(task.import_path.rpartition(".")[0])
        while "__getattr__" not in vars(family):  # a package inside a family
            family = importlib.import_module(family.__name__.rpartition(".")[0])
        assert issubclass(spec_class_of(task), getattr(family, f"{task.env}EnvSpec"))


# ---- the table -------------------------------------------------------------------------------------------------------


def test_list_all_envs():
    names = envpool.list_all_envs()
    assert len(names) == len(set(names))
    assert names.index("CartPole-v0") < names.index("CartPole-v1")
    assert names.index("phys2d/CartPole-v1") == names.index("CartPole-v1") + 1
    names.clear()
    assert envpool.list_all_envs()


def test_every_task_makes_a_spec():
    for name in playable_tasks():
        spec = envpool.make_spec(name, num_envs=2)
        assert spec.task_id == name
        assert spec.config.num_envs == 2


def test_aliases_are_the_same_task():
    with (
        envpool.make_gymnasium("phys2d/CartPole-v1", seed=3) as pool,
        envpool.make_gymnasium("CartPole-v1", seed=3) as other,
    ):
        assert pool.config == other.config
        assert pool.reset()[0].tobytes() == other.reset()[0].tobytes()


@pytest.mark.parametrize("call", [envpool.make_spec, envpool.make_gym, envpool.make_dm, envpool.make_gymnasium])
@pytest.mark.parametrize("kind", [AssertionError, KeyError, UnknownTaskError])
def test_unknown_task(call, kind):
    with pytest.raises(kind) as caught:
        call("CartPole-v9")
    assert str(caught.value).startswith("CartPole-v9 is not supported, did you mean ")
    assert "CartPole-v1" in str(caught.value)
    assert str(caught.value).endswith("`envpool.list_all_envs()` may help.")


def test_unknown_task_without_a_neighbour():
    with pytest.raises(UnknownTaskError, match=r"^nothing like it is not supported, `envpool"):
        envpool.make_spec("nothing like it")


@pytest.mark.parametrize("env_type", ["foo", "", None, "GYM"])
def test_unknown_env_type(env_type):
    with pytest.raises(AssertionError, match="env_type must be one of 'dm', 'gym', 'gymnasium', got"):
        envpool.make("CartPole-v1", env_type)


def test_make_takes_keywords():
    with envpool.make(task_id="CartPole-v1", env_type="gymnasium", num_envs=2) as pool:
        assert len(pool) == 2
    for call in (envpool.make, envpool.make_dm, envpool.make_gym, envpool.make_gymnasium, envpool.make_spec):
        assert "task_id" in inspect.signature(call).parameters


def test_make_variants():
    for call, name in ((envpool.make_dm, "DM"), (envpool.make_gym, "Gymnasium"), (envpool.make_gymnasium, "Gymnasium")):
        with call("CartPole-v1") as pool:
            assert type(pool).__name__ == f"CartPole{name}EnvPool"


def test_register_refuses_what_exists():
    with pytest.raises(AssertionError, match="'CartPole-v1' is already registered"):
        envpool.register("CartPole-v1", "somewhere", env="CartPole")
    with pytest.raises(ConfigError, match="'phys2d/CartPole-v1' is already registered"):
        envpool.register("New-v0", "somewhere", env="CartPole", aliases=["phys2d/CartPole-v1"])
    assert "New-v0" not in envpool.list_all_envs()


def test_register_needs_classes():
    with pytest.raises(ConfigError, match=r"needs env=..., or all of spec_cls"):
        envpool.register("New-v0", "somewhere", "NewEnvSpec")


def test_registered_tasks_come_after_those_of_the_package():
    mine = EnvRegistry()
    mine.register("New-v0", "envpool.classic_control.cartpole", env="CartPole", aliases=["New-v1"], max_episode_steps=9)
    assert mine.list_all_envs()[-2:] == ["New-v0", "New-v1"]
    assert resolve_entry(mine.find("New-v1"), "gymnasium", {"num_envs": 3})[0].config.max_episode_steps == 9
    assert (
        resolve_entry(mine.find("New-v1"), "gymnasium", {"num_envs": 3, "max_episode_steps": 5})[
            0
        ].config.max_episode_steps
        == 5
    )


def test_listeners_hear_of_every_task():
    heard = []
    mine = EnvRegistry()
    mine.on_register(heard.append)
    mine.register("New-v0", "envpool.classic_control.cartpole", env="CartPole", aliases=["New-v1"])
    assert heard == [("New-v0", "New-v1")]


def test_resolve():
    mine = EnvRegistry()
    mine.register("New-v0", "envpool.classic_control.cartpole", env="CartPole", max_episode_steps=9)
    spec, render = resolve_entry(mine.find("New-v0"), "dm", {"num_envs": 3})
    assert (spec.task_id, spec.style, spec.follows_gym, spec.config.max_episode_steps) == ("New-v0", "dm", False, 9)
    assert render is None
    options = {"render_mode": "rgb_array", "render_width": 30, "gym_api": "legacy"}
    spec, render = resolve_entry(mine.find("New-v0"), "gym", options)
    assert (spec.style, spec.follows_gym, spec.config.gym_reset_return_info) == ("gym", True, False)
    assert (render.mode, render.width, render.camera) == ("rgb_array", 30, -1)
    assert len(options) == 3, "resolve() does not change the options"


class Plain:
    """An environment that does not subclass EnvDefinition."""

    options = {"reward_threshold": 3.0}

    @staticmethod
    def build(config):
        return envpool.make_spec("CartPole-v1").capsule


def test_an_environment_with_options_and_build_only():
    mine = EnvRegistry()
    mine.register("Plain-v0", __name__, env="Plain")
    spec, render = resolve_entry(mine.find("Plain-v0"), "gymnasium", {"render_mode": "rgb_array"})
    assert spec.env is Plain
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pool_class(type(spec), "gymnasium")(spec, render) as pool:
        pool.reset()
        assert type(pool).__name__ == "PlainGymnasiumEnvPool"
        assert pool.metadata["render_fps"] == 30
        assert pool.render().dtype == np.uint8


def test_register_with_envpools_arguments():
    """Register existing classes by name, as EnvPool's own families do."""
    envpool.register(
        "Old-v0",
        "envpool.classic_control",
        "CartPoleEnvSpec",
        "CartPoleDMEnvPool",
        "CartPoleGymnasiumEnvPool",
        ["Older-v0"],
        max_episode_steps=9,
    )
    try:
        for env_type, name in (("dm", "CartPoleDMEnvPool"), ("gymnasium", "CartPoleGymnasiumEnvPool")):
            with envpool.make("Older-v0", env_type, num_envs=2) as pool:
                assert type(pool).__name__ == name
                assert pool.config["max_episode_steps"] == 9
    finally:
        del registry.tasks["Old-v0"], registry.tasks["Older-v0"]


# ---- options ---------------------------------------------------------------------------------------------------------


def test_unknown_option():
    with pytest.raises(TypeError, match="task 'CartPole-v1' has no option 'num_env'; did you mean 'num_envs'"):
        envpool.make_gym("CartPole-v1", num_env=3)
    with pytest.raises(TypeError, match="has no option 'zzz'; its options are num_envs, batch_size, "):
        envpool.make_spec("CartPole-v1", zzz=3)


@pytest.mark.parametrize(
    "options",
    [
        {"num_envs": 0},
        {"num_envs": -1},
        {"num_envs": 2**40},
        {"num_envs": 2, "batch_size": 3},
        {"batch_size": -1},
        {"batch_size": 2},
        {"num_threads": -1},
        {"num_threads": 5000},
        {"max_num_players": 0},
        {"thread_affinity_offset": -2},
        {"max_episode_steps": 0},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": [1, 2], "num_envs": 3},
        {"seed": [1, 2**64], "num_envs": 2},
        {"env_seed": [1, 2], "num_envs": 3},
        {"env_seed": [1, 2], "seed": [1, 2], "num_envs": 2},
        {"autoreset_mode": "never"},
        {"on_error": "ignore"},
        {"step_timeout": 0},
        {"step_timeout": float("nan")},
        {"render_mode": "ansi"},
        {"render_width": -1},
        {"render_camera_id": -2},
        {"render_env_id": 1},
        {"gym_api": "x"},
        {"from_pixels": True},
    ],
)
@pytest.mark.parametrize("kind", [AssertionError, ValueError])
def test_values_that_are_not_allowed(options, kind):
    name = next(iter(options))
    for call in (envpool.make_gymnasium, envpool.make_spec):
        with pytest.raises(kind, match="batch_size" if options.get("batch_size") else name):
            call("CartPole-v1", **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_envs", "3"),
        ("num_envs", 2.5),
        ("num_envs", None),
        ("num_envs", True),
        ("seed", "abc"),
        ("seed", 1.5),
        ("seed", ["a"]),
        ("env_seed", 3),
        ("env_seed", "abc"),
        ("batch_size", [1]),
        ("max_episode_steps", 10.0),
        ("reward_threshold", "high"),
        ("sutton_barto_reward", "yes"),
        ("gym_reset_return_info", 2),
    ],
)
def test_values_of_a_wrong_type(name, value):
    with pytest.raises(TypeError, match=name):
        envpool.make_spec("CartPole-v1", **{name: value})


def test_numpy_integers_are_integers():
    config = envpool.make_spec("CartPole-v1", num_envs=np.int64(4), batch_size=np.uint8(2), seed=np.int32(3)).config
    assert (config.num_envs, config.batch_size, config.seed) == (4, 2, 3)
    assert [type(v) for v in (config.num_envs, config.batch_size, config.seed)] == [int] * 3


def test_seed_sequences_become_env_seed():
    config = envpool.make_spec("CartPole-v1", num_envs=2, seed=np.array([3, 4])).config
    assert (config.seed, config.env_seed) == (0, [3, 4])


def test_a_seed_of_none_is_drawn_and_told():
    seeds = {envpool.make_spec("CartPole-v1", seed=None).config.seed for _ in range(8)}
    assert len(seeds) > 1 and all(0 <= seed < 2**31 for seed in seeds)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=None)
    with pool, envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=pool.config["seed"]) as other:
        assert pool.reset()[0].tobytes() == other.reset()[0].tobytes()
    with pytest.raises(TypeError, match="seed"):
        envpool.make_spec("CartPole-v1", seed=None, env_seed=[None])


# ---- sizes and copies ------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_envs():
    with envpool.make_gymnasium("CartPole-v1", num_envs=100_000) as pool:
        obs, info = pool.reset()
        assert obs.shape == (100_000, 4)
        assert info["env_id"].tolist() == list(range(100_000))
        obs = pool.step(np.zeros(100_000, np.int64))[0]
        assert np.isfinite(obs).all()


def test_specs_are_pickled():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, seed=3) as pool:
        spec = pickle.loads(pickle.dumps(pool.spec))
        assert spec == pool.spec
        assert spec.task_id == "CartPole-v1"
        with type(pool)(spec) as copy:
            assert copy.reset()[0].tobytes() == pool.reset()[0].tobytes()


#: The public attributes of a pool besides its spaces, see "Methods" and "Spaces and attributes" in docs/api.md.
PUBLIC = {
    *("reset", "step", "send", "recv", "async_reset", "xla", "render", "seed", "sample_actions", "stats", "close"),
    *("get_state", "set_state", "copy_state", "get_params", "set_params", "call", "get_attr", "set_attr"),
    *("get_randomize", "set_randomize"),
    *(
        "spec",
        "config",
        "num_envs",
        "num_threads",
        "all_env_ids",
        "is_async",
        "metadata",
        "render_mode",
        "num_outstanding",
        "is_closed",
        "normalization",
        "opponents",
    ),
}


@pytest.mark.parametrize("env_type", ["gymnasium", "dm", "gym"])
def test_helpers_of_pools_are_private(env_type):
    with envpool.make("CartPole-v1", env_type) as pool:
        inherited = {name for base in type(pool).__mro__ if "envpool" not in base.__module__ for name in vars(base)}
        names = {name for name in dir(pool) if not name.startswith("_")} - inherited
    spaces = {f"{of}{kind}_space" for of in ("", "single_") for kind in ("observation", "action")}
    assert names - spaces - {"is_vector_env", "closed", "unwrapped"} <= PUBLIC | {"observation_spec", "action_spec"}
    assert PUBLIC - names <= inherited
