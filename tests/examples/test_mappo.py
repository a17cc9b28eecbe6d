"""MAPPO: agents learn together, the critic sees all of them, and only steps in which an agent acted count."""

import numpy as np
import pytest
import torch

import envpool
from tests.examples.load import load

SMALL = {"num_envs": 8, "num_steps": 26, "hidden": 8, "epochs": 1, "minibatches": 2, "total_timesteps": 416}


@pytest.fixture(scope="module")
def mappo():
    return load("mappo")


def agents_of(mappo, task="MPE/simple_spread-v3", **options):
    with envpool.make_gymnasium(task, players="grid") as pool:
        return mappo.Agents(pool, 8, **options)


def test_runs_and_saves_a_policy(mappo, tmp_path, capsys):
    words = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    saved, curve = tmp_path / "policy.pt", tmp_path / "curve.png"
    mappo.main([*words, "--episodes", "4", "--save", str(saved), "--plot", str(curve)])
    out = capsys.readouterr().out
    assert "random actions: mean return -" in out and "likeliest actions: mean return -" in out
    assert curve.read_bytes().startswith(b"\x89PNG")
    policy = mappo.load(saved)
    result = envpool.evaluate(policy, "MPE/simple_spread-v3", 4, 1_000_000)
    assert f"likeliest actions: mean return {result.mean:.1f} " in out
    with pytest.raises(SystemExit, match=r"the target 0 was not reached with the seeds \[1, 2\]"):
        mappo.main([*words, "--episodes", "0", "--seeds", "2", "--target", "0", "--plot", str(curve)])
    with pytest.raises(SystemExit, match="--save belongs to a single run"):
        mappo.main(["--seeds", "2", "--save", str(saved)])


def test_runs_have_no_environments_in_common(mappo, monkeypatch):
    """Environment i has the seed of the pool plus i, so pools with the seeds 1 and 2 would play the same episodes."""
    seeds = []
    make = envpool.make_gymnasium

    def noted(*args, **options):
        pool = make(*args, **options)
        seeds.append(set(pool.spec.seeds().tolist()))
        return pool

    monkeypatch.setattr(mappo.envpool, "make_gymnasium", noted)
    for seed in (1, 2, 3):
        mappo.train(mappo.Args(**SMALL | {"total_timesteps": 0, "seed": seed}))
    assert len(set.union(*seeds)) == 3 * SMALL["num_envs"]
    assert max(max(s) for s in seeds) < mappo.EVALUATION_SEED


def test_the_critic_sees_all_agents_unless_they_are_independent(mappo):
    obs = torch.randn(2, 3, 18)
    other = obs.clone()
    other[:, 2] += 1
    with torch.no_grad():
        central, own = agents_of(mappo), agents_of(mappo, independent=True)
        assert (central.values(obs)[:, 0] != central.values(other)[:, 0]).all()
        assert torch.equal(own.values(obs)[:, 0], own.values(other)[:, 0])
        for agents in (central, own):  # a policy never sees more than its agent does
            assert torch.equal(agents.logits(obs)[:, :2], agents.logits(other)[:, :2])
            assert agents.values(obs).shape == (2, 3)


def test_no_agent_takes_an_action_that_it_does_not_have(mappo):
    """The speaker has three actions, the listener five."""
    agents = agents_of(mappo, "MPE/simple_speaker_listener-v4")
    sampler, obs = mappo.Sampler(0), np.random.default_rng(0).normal(size=(500, 2, 11)).astype(np.float32)
    actions, log_probs = mappo.act(agents, obs, sampler)
    assert set(actions[:, 0].tolist()) == {0, 1, 2} and set(actions[:, 1].tolist()) == set(range(5))
    assert np.isfinite(log_probs).all()
    data = mappo.Args(**SMALL, task="MPE/simple_speaker_listener-v4")
    mappo.train(data)  # minus infinity in the logits leaves no NaN in the networks


@pytest.mark.parametrize("independent", [False, True])
def test_networks_stay_finite_and_change(mappo, independent):
    agents, returns = mappo.train(mappo.Args(**SMALL, independent=independent))
    assert all(torch.isfinite(p).all() for p in agents.parameters())
    assert len(returns.values) == 2 * SMALL["num_envs"]
    assert agents.std.max() > 0 and not torch.equal(agents.mean, torch.zeros(18))


def test_the_scale_of_observations(mappo):
    """The likeliest actions for raw observations are those for the normalised ones in training."""
    agents = agents_of(mappo)
    options = {"num_envs": 4, "players": "grid", "seed": 3}
    with envpool.make_gymnasium("MPE/simple_spread-v3", normalize_obs=True, clip_obs=mappo.CLIP, **options) as pool:
        obs, _ = pool.reset()
        agents.learn_scale(pool.normalization)
        with torch.no_grad():
            expected = agents.logits(torch.from_numpy(obs)).argmax(2).numpy()
    with envpool.make_gymnasium("MPE/simple_spread-v3", **options) as pool:
        np.testing.assert_array_equal(agents.best(pool.reset()[0]), expected)


def test_tasks_without_discrete_actions_are_refused(mappo):
    pool = envpool.make_gymnasium("MPE/simple_spread-v3", players="grid", continuous_actions=True)
    with pool, pytest.raises(SystemExit, match="discrete actions"):
        mappo.Agents(pool, 8)


@pytest.mark.slow
def test_learns(mappo):
    """Random actions have a mean return of about -80."""
    _, returns = mappo.train(mappo.Args(total_timesteps=200_000))
    assert returns.mean > -60
