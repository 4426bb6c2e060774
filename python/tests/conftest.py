import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_command(*arguments, check=True, **how):
    """The program: INKLING_PROGRAM, else python -m inkling."""
    program = os.environ.get("INKLING_PROGRAM")
    command = [program] if program else [sys.executable, "-m", "inkling"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=check, **how)


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("".join(f"{i} times {i % 7} is {i * (i % 7)}.\n" for i in range(2000)), encoding="utf-8")
    return path


FLAGS = dict(max_iters=30, n_layer=1, n_head=2, n_embd=32, block_size=32, batch_size=4, eval_every=10, seed=7)


@pytest.fixture(scope="session")
def run(text, tmp_path_factory):
    """A run of the program."""
    out = tmp_path_factory.mktemp("run") / "run"
    flags = [part for name, value in FLAGS.items() for part in ("--" + name.replace("_", "-"), value)]
    run_command("train", "--data", text, "--recipe", "nanogpt-cpu", "--out", out, *flags)
    return out
