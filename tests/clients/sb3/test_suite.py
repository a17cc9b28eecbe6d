"""Stable-Baselines3's own tests of DummyVecEnv and SubprocVecEnv, run on `envpool.adapters.sb3.VecEnv`."""

from tests.clients.suite import run_suite, sdist

FILES = (
    "test_vec_envs.py",
    "test_vec_normalize.py",
    "test_vec_check_nan.py",
    "test_vec_extract_dict_obs.py",
    "test_vec_stacked_obs.py",
)
DEVIATIONS = {
    "test_check_nan": "actions for more environments than there are raise ActionError; DummyVecEnv ignores them",
    "test_discrete_obs": "it makes CliffWalking-v0, which gymnasium 1.4 no longer has",
}
TRAINING = "it trains for many seconds; test_presets.py and test_python_pools.py train on pools"
LEFT_OUT = {
    "test_vec_envs.py::test_subproc_start_method": "an unknown start method raises a ConfigError that lists the known "
    "ones, and starting with each known one takes many seconds",
    "test_vec_envs.py::test_video_recorder": "it needs a video encoder",
    "test_vec_extract_dict_obs.py::test_vec_with_ppo": TRAINING,
    "test_vec_normalize.py::test_her_normalization": TRAINING,
    "test_vec_normalize.py::test_offpolicy_normalization": TRAINING,
}


def test_vectorized_environments(tmp_path):
    run_suite(
        tmp_path,
        sdist("stable-baselines3==2.9.2", "8af267e9513343f481b3f0680b7740ad79a746873db24f18a9fb2edcbd9a2df7"),
        "tests",
        FILES,
        "tests.clients.sb3.stand_ins",
        deviations=DEVIATIONS,
        left_out=LEFT_OUT,
    )
