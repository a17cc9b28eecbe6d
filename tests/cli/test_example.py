"""``envpool example`` lists and writes the programs of examples/."""

import subprocess
import sys
from pathlib import Path

import pytest

from envpool.cli.example import first_line, programs
from envpool.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_lists_all_programs_with_the_first_lines_of_their_docstrings(capsys):
    assert main(["example"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:]]
    assert {"ppo", "sac", "cleanrl/dqn_atari"} <= {name for name, _ in lines}
    assert dict(lines)["ppo"].startswith("PPO on a pool of environments")
    assert dict(lines) == {name: first_line(file) for name, file in programs().items()}
    assert all(content.endswith(".") for _, content in lines)


@pytest.mark.parametrize("name", ["ppo", "ppo.py", "examples/ppo.py"])
def test_writes_a_program_that_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["example", name]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["ppo.py"]
    assert (tmp_path / "ppo.py").read_bytes() == (EXAMPLES / "ppo.py").read_bytes()
    wrote, hint = capsys.readouterr().out.splitlines()
    assert wrote == "wrote ppo.py" and hint.startswith("python ppo.py --help")


def test_gallery_runs_where_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "gallery", "mine.py"]) == 0
    done = subprocess.run([sys.executable, "mine.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "usage: mine.py" in done.stdout


def test_writes_into_a_folder_or_a_file(tmp_path):
    assert main(["example", "cleanrl/dqn_atari", str(tmp_path)]) == 0
    assert main(["example", "ppo", str(tmp_path / "mine.py")]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"dqn_atari.py", "mine.py"}


def test_overwrites_only_on_request(tmp_path, capsys):
    file = tmp_path / "ppo.py"
    file.write_text("mine")
    assert main(["example", "ppo", str(file)]) == 2
    assert f"{file} already exists" in capsys.readouterr().err and file.read_text() == "mine"
    assert main(["example", "ppo", str(file), "--force"]) == 0
    assert file.read_bytes() == (EXAMPLES / "ppo.py").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["pp"], "there is no example 'pp'; did you mean ppo"),
        (["zzz"], "there is no example 'zzz'; `envpool example` lists all"),
        (["ppo", "no/such/folder/ppo.py"], "the directory no/such/folder does not exist"),
    ],
)
def test_mistakes(arguments, text, capsys):
    assert main(["example", *arguments]) == 2
    assert text in capsys.readouterr().err
