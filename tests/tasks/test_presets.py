"""Presets: which options apply, what is refused, and the command line. Families test their own values."""

import pickle
from contextlib import closing
from types import SimpleNamespace

import pytest

import envpool
from envpool.cli.bench.command import plan
from envpool.cli.main import main
from envpool.errors import ConfigError
from envpool.registration import registry
from envpool.tasks.presets import with_preset
from envpool.tasks.spec import spec_class_of
from tests.support import vector_envs

PRESETS = {"fast": {"a": 1, "b": 2}, "slow": {"a": 3}}


def test_options_beside_a_preset_take_precedence():
    assert with_preset("Task", PRESETS, {"preset": "fast", "b": 5, "c": 7}) == {"a": 1, "b": 5, "c": 7}
    assert with_preset("Task", PRESETS, {"b": 5}) == with_preset("Task", {}, {"b": 5, "preset": None}) == {"b": 5}
    assert PRESETS == {"fast": {"a": 1, "b": 2}, "slow": {"a": 3}}


@pytest.mark.parametrize("preset", ["quick", "", 3, ["fast"], {"a": 1}])
def test_unknown_presets_are_refused_with_those_that_exist(preset):
    with pytest.raises(ConfigError, match=r"^preset must be one of 'fast', 'slow' for Task, got "):
        with_preset("Task", PRESETS, {"preset": preset})


def test_tasks_without_presets_refuse_them_all():
    text = "preset must be None, since CartPole-v1 has no presets, got 'dqn'"
    for make in (envpool.make_spec, envpool.make_gymnasium, envpool.make_gym, envpool.make_dm):
        with pytest.raises(ConfigError, match=text):
            make("CartPole-v1", preset="dqn")


def test_every_preset_of_every_family_makes_a_spec():
    found = {}
    for task_id, entry in registry.tasks.items():
        definition = spec_class_of(entry).definition
        if definition.presets and definition not in found:
            found[definition] = task_id
            for name, options in definition.presets.items():
                config = envpool.make_spec(task_id, preset=name).config
                assert {key: getattr(config, key) for key in options} == options, name
    assert found


@pytest.mark.parametrize("make", [envpool.make_gymnasium, envpool.make_gym, envpool.make_dm, vector_envs.make])
def test_every_way_to_make_a_pool_takes_presets(make):
    with closing(make("Pong-v5", num_envs=2, preset="dqn", frame_skip=3)) as pool:
        config = getattr(pool, "pool", pool).spec.config
        assert config == envpool.make_spec("Pong-v5", num_envs=2, frame_skip=3, preset="dqn").config
        assert (config.episodic_life, config.use_fire_reset, config.frame_skip) == (True, False, 3)


def test_a_pickled_spec_keeps_the_options():
    spec = envpool.make_spec("Pong-v5", preset="machado2018")
    assert pickle.loads(pickle.dumps(spec)).config == spec.config


def test_command_line(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it
    assert main(["spec", "Pong-v5", "--preset", "machado2018", "--option", "stack_num=2"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith("max_episode_steps int 3600 (default 27000) ") for line in lines)
    assert any(line.startswith("stack_num int 2 (default 4) ") for line in lines)
    assert any(line.startswith("preset str or None 'machado2018' (default None) ") for line in lines)
    assert main(["spec", "Pong-v5", "--preset", "a2c"]) == 2
    err = capsys.readouterr().err
    assert "preset must be one of 'dqn', " in err and " for Pong-v5, got 'a2c'" in err


def test_benchmarks_use_the_preset():
    arguments = SimpleNamespace(
        tasks=["Pong-v5"],
        options=[("frame_skip", "2"), ("preset", "dqn")],
        sweep=False,
        compare=None,
        env_type="gymnasium",
        num_envs=2,
        batch_size=None,
        num_threads=None,
    )
    (cell,) = plan(arguments)
    config = envpool.make_spec(cell.task, **cell.options).config
    assert (config.frame_skip, config.episodic_life, config.num_envs) == (2, True, 2)
