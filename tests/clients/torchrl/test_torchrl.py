"""torchrl's MultiThreadedEnv and MultiThreadedEnvWrapper: what its own tests of them call and check, without a GPU."""

import subprocess
import sys

import pytest
import torch
from tensordict import TensorDict, assert_allclose_td
from tensordict.nn import TensorDictSequential
from torchrl.envs import MultiThreadedEnv, MultiThreadedEnvWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.modules import SafeModule
from torchrl.testing import make_multithreaded_env

import envpool

CLASSIC = ["Pendulum-v1", "Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0"]
TASKS = [*CLASSIC, "CheetahRun-v1"]
COUNT = 3

tasks = pytest.mark.parametrize("task", TASKS)
transformed = pytest.mark.parametrize("is_transformed", [False, True])


@pytest.fixture
def make(request):
    """torchrl's own helper; it wraps the env in transforms when asked to."""

    def make_env(task, is_transformed=False, count=COUNT):
        env = make_multithreaded_env(task, 1, transformed_out=is_transformed, N=count)
        request.addfinalizer(lambda: env.is_closed or env.close())
        return env

    return make_env


def random_actions(env, count=COUNT):
    return TensorDict({"action": env.action_spec.rand()}, batch_size=[count])


def test_library():
    assert MultiThreadedEnvWrapper.lib is envpool


@tasks
def test_wrapper_of_a_pool(task):
    pool = envpool.make(task_id=task, env_type="gym", num_envs=4, gym_reset_return_info=True, max_num_players=1)
    env = MultiThreadedEnvWrapper(pool)
    assert env.batch_size == torch.Size([4])
    env.reset()
    step = env.rand_step()
    assert step["next", "reward"].shape == (4,)
    env.close()


@tasks
@transformed
def test_specs(make, task, is_transformed):
    check_env_specs(make(task, is_transformed))


@tasks
@transformed
def test_basic_operation(make, task, is_transformed):
    env = make(task, is_transformed)
    step = env.step(random_actions(env))
    assert not step.is_shared()
    assert {("next", "done"), ("next", "reward")} <= set(step.keys(True))
    with pytest.raises(RuntimeError):
        env.step(TensorDict({"action": env.action_spec.rand()}, batch_size=[COUNT - 1]))
    rollout = env.rollout(policy=None, max_steps=10, break_when_any_done=False)
    assert rollout.shape == (COUNT, 10)


@tasks
@pytest.mark.parametrize("mask", [[True, False, True], [False, True, False]])
def test_partial_reset(task, mask):
    pool = envpool.make(task_id=task, env_type="gym", num_envs=COUNT, gym_reset_return_info=True)
    env = MultiThreadedEnvWrapper(pool)
    env.reset()
    for _ in range(3):
        before = env.rand_step()["next"].clone()  # torchrl writes what was reset into it
    after = env.reset(tensordict=TensorDict({"_reset": torch.tensor(mask)}, batch_size=[COUNT]))
    key = next(iter(env.observation_spec.keys()))
    assert (after[key][mask] != before[key][mask]).any(dim=-1).all()
    info = pool.step(env.action_spec.rand().numpy())[-1]
    assert info["elapsed_step"].tolist() == [1 if m else 4 for m in mask]


class DiscreteChoice(torch.nn.Module):
    """An integer action from features."""

    def __init__(self, count, dtype):
        super().__init__()
        self.linear = torch.nn.LazyLinear(count, dtype=dtype)

    def forward(self, features):
        return torch.argmax(self.linear(features), dim=-1)


@tasks
def test_rollout_with_a_policy(make, task):
    env = make(task)
    key = "velocity" if task == "CheetahRun-v1" else "observation"
    dtype = env.observation_spec[key].dtype
    if env.action_spec.domain == "discrete":
        head = DiscreteChoice(env.action_spec.space.n, dtype)
    else:
        head = torch.nn.LazyLinear(env.action_spec.shape[-1], dtype=dtype)
    features = torch.nn.LazyLinear(12, dtype=dtype)
    policy = TensorDictSequential(
        SafeModule(spec=None, module=features, in_keys=[key], out_keys=["hidden"]),
        SafeModule(spec=None, module=head, in_keys=["hidden"], out_keys=["action"]),
    )
    rollout = env.rollout(policy=policy, max_steps=10, break_when_any_done=False)
    assert rollout.shape == (COUNT, 10)


@tasks
@transformed
def test_seeds(make, task, is_transformed):
    def start(seed, action):
        env = make(task, is_transformed)
        env.set_seed(seed)
        first = env.reset()
        torch.manual_seed(seed)
        return first, env.step(first.clone().set("action", action)), env.rollout(max_steps=10)

    action = make(task).action_spec.rand()
    one, same, other = start(100, action), start(100, action), start(110, action)
    for a, b in zip(one, same, strict=True):
        assert_allclose_td(a, b)
    with pytest.raises(AssertionError):
        assert_allclose_td(one[0], other[0])


def test_shutdown(make):
    env = make("Pendulum-v1")
    env.reset()
    assert not env.is_closed
    env.rand_step()
    assert not env.is_closed
    env.close()
    assert env.is_closed


def test_gym_need_not_be_imported_first():
    """torchrl imports gym after it has made the pool, and then needs the spec's spaces in gym's classes."""
    code = """
import sys
sys.modules["procgen"] = None  # torchrl would import it if it is installed, and that imports gym
from torchrl.envs import MultiThreadedEnv
assert "gym" not in sys.modules
env = MultiThreadedEnv(num_workers=2, env_name="CartPole-v1")
assert "gym" in sys.modules
assert env.rollout(3, break_when_any_done=False).shape == (2, 3)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pixels():
    env = MultiThreadedEnv(num_workers=2, env_name="ALE/Pong-v5")
    rollout = env.rollout(4)
    assert rollout["observation"].shape == (2, 4, 4, 84, 84)
    assert rollout["observation"].dtype == torch.uint8
    env.close()
