"""What all commands share: help, errors in one line, exit statuses."""

import os
import signal
import subprocess

import pytest

import envpool
from envpool.cli.main import COMMANDS, main
from tests.cli.command import COMMAND, ENVIRONMENT, run_command
from tests.support.process import PATIENCE, wait_until, workers


def error_line(done):
    """Return the one line that a failed command prints."""
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("name", [name for name in COMMANDS if not name.startswith("fetch-")])
def test_help_is_wrapped_to_the_terminal(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main([name, "--help"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 60
    about = " ".join(COMMANDS[name].__doc__.split())
    assert about in " ".join(text.split())


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_names_every_argument(arguments, capsys):
    with pytest.raises(SystemExit) as exit_status:
        main(arguments)
    assert exit_status.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS) if len(arguments) == 1 else f"usage: envpool {arguments[0]}" in text


def test_version(capsys):
    with pytest.raises(SystemExit) as exit_status:
        main(["--version"])
    assert exit_status.value.code == 0
    assert capsys.readouterr().out == f"envpool {envpool.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "COMMAND"),
        (["lst"], "invalid choice: 'lst'"),
        (["list", "no such task"], "no task matches 'no such task'"),
        (["spec", "CartPole"], "did you mean CartPole-v1"),
        (["spec", "CartPole-v1", "--option", "max_episode_step=3"], "did you mean 'max_episode_steps'?"),
        (["spec", "CartPole-v1", "--option", "max_episode_steps=many"], "max_episode_steps must be of type int"),
        (["spec", "CartPole-v1", "--option", "max_episode_steps"], "name=value"),
        (["bench"], "TASK"),
        (["bench", "CartPole-v1", "CartPole-v11"], "CartPole-v11 is not supported"),
        (["bench", "CartPole-v1", "--num-envs", "0"], "--num-envs: must be an integer of at least 1, got '0'"),
        (["bench", "CartPole-v1", "--num-envs", "1.5"], "--num-envs: must be an integer of at least 1, got '1.5'"),
        (["bench", "CartPole-v1", "--num-envs", "1" * 5000], "--num-envs: must be an integer of at least 1, got '11"),
        (
            ["bench", "CartPole-v1", "--num-envs", "4", "--batch-size", "5"],
            "batch_size must be between 1 and num_envs, which is 4",
        ),
        (["bench", "CartPole-v1", "--num-threads", "5000"], "num_threads must be between 0 and 4096, got 5000"),
        (["bench", "CartPole-v1", "--seconds", "0"], "--seconds: must be a number of seconds greater than 0, got '0'"),
        (["bench", "CartPole-v1", "--seconds", "nan"], "must be a number of seconds greater than 0, got 'nan'"),
        (["bench", "CartPole-v1", "--env-type", "jax"], "invalid choice: 'jax'"),
        (["bench", "CartPole-v1", "--sweep", "--num-envs", "4"], "leave out --num-envs"),
        (["bench", "CartPole-v1", "--compare", "gymnasium", "--option", "seed=1"], "leave out --option"),
        (["bench", "CartPole-v1", "--option", "num_envs=3"], "use --num-envs"),
        (["bench", "CartPole-v1", "--option", "num_workers=1"], "use --num-threads instead of --option num_workers="),
        (["bench", "CartPole-v1", "--option", "autoreset_mode=disabled"], "autoreset_mode must be 'next_step' or"),
        (["bench", "CartPole-v1", "--option", "task_id=x"], "'CartPole-v1' has no option 'task_id'"),
        (["spec", "CartPole-v1", "--option", "task_id=x"], "'CartPole-v1' has no option 'task_id'"),
        (["watch", "CartPole-v1", "--option", "task_id=x"], "'CartPole-v1' has no option 'task_id'"),
        (["watch", "CartPole-v1", "--seed", "-1"], "--seed: must be an integer between 0 and 2**64 - 1, got '-1'"),
        (["bench", "CartPole-v1", "--json", "/proc/a.json"], "cannot write /proc/a.json: "),
        (["record", "CartPole-v1", "/proc/a.npz"], "cannot write /proc/a.npz: "),
        (["bench", "CartPole-v1", "--plot", "a.txt"], "must end in one of .png"),
        (["bench", "CartPole-v1", "--plot", "no/such/folder/a.png"], "no/such/folder does not exist"),
        (["bench", "CartPole-v1", "--json", "."], "it is a directory"),
        (["bench", "CartPole-v1", "--sec", "1"], "unrecognized arguments: --sec 1"),
    ],
)
def test_errors_are_one_line_and_status_2(arguments, text):
    line = error_line(run_command(*arguments))
    assert line.startswith("envpool")
    assert text in line


def test_interrupt_gives_status_130():
    with subprocess.Popen(
        [*COMMAND, "bench", "CartPole-v1", "--num-envs", "64", "--num-threads", "2", "--seconds", "300"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or workers(process.pid))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.split("\n") == ["", "envpool bench: interrupted", ""]


def test_reader_that_has_gone_is_no_error():
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*COMMAND, "list"], stdout=write, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=60
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def run_shell(redirection, *arguments, **variables):
    """Run a command under sh with a redirection, such as ``>&-``."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, *arguments],
        capture_output=True,
        text=True,
        env=ENVIRONMENT | variables,
        timeout=PATIENCE,
    )


def test_characters_that_stdout_lacks():
    done = run_shell("", "spec", "CartPole-v1", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    plain = run_shell("", "spec", "CartPole-v1", PYTHONIOENCODING="utf-8")
    assert done.stdout == plain.stdout.encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize("arguments", [["list"], ["watch", "CartPole-v1", "--out", "no/such/a.png"]])
def test_closed_stdout(arguments):
    assert "stdout is closed" in error_line(run_shell(">&-", *arguments))


def test_closed_stderr():
    done = run_shell("2>&-", "bench", "CartPole-v1", "--num-envs", "2", "--seconds", "0.1")
    assert done.returncode == 0 and "CartPole-v1" in done.stdout
    done = run_shell("2>&-", "list", "no such task")
    assert (done.returncode, done.stdout) == (2, "")
