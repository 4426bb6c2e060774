import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def array(stored):
    """An array of the files in tests/reference."""
    return np.array(stored["data"]).reshape(stored["shape"])


def same(a, b):
    """Whether two dicts of arrays are the same."""
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@contextlib.contextmanager
def another_thread():
    """A list that another thread fills as long as it can run."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(1e-3):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield ticks
    finally:
        done.set()
        thread.join()


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
