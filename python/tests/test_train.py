import json
import math
import signal
import subprocess
import sys

import inkling
import pytest
from conftest import FLAGS, another_thread, run_command


def trained(text, out, **flags):
    return inkling.train(text, **{"recipe": "nanogpt-cpu", "quiet": True, **FLAGS, "out": out, **flags})


def test_same_seed_same_bytes(text, run, tmp_path):
    steps = []
    result = trained(text, tmp_path / "run", callback=steps.append)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (tmp_path / "run/latest" / name).read_bytes() == (run / "latest" / name).read_bytes()
    assert [m["step"] for m in steps] == list(range(1, 31)) and result.stop_reason == "max_iters"
    assert [m["step"] for m in steps if m["val_loss"] is not None] == [10, 20, 30]
    lines = [json.loads(line) for line in open(run / "metrics.jsonl")]
    assert result.metrics["loss"] == [line["loss"] for line in lines]
    assert result.best_val_loss == min(line["val_loss"] for line in lines if "val_loss" in line)
    assert math.isnan(result.metrics["val_loss"][0]) and {"step", "lr", "grad_norm", "tok_s"} <= set(result.metrics)
    assert "".join(result.model.generate("1", max_tokens=3, seed=1))


def test_a_callback_stops_the_run_and_it_goes_on(text, run, tmp_path):
    result = trained(text, tmp_path / "run", callback=lambda m: m["step"] == 13)
    assert result.stop_reason == "interrupted" and result.metrics["step"][-1] == 13
    result = trained(text, tmp_path / "run", resume="auto")
    assert result.stop_reason == "max_iters"
    assert (tmp_path / "run/latest/model.safetensors").read_bytes() == (run / "latest/model.safetensors").read_bytes()


def test_exceptions_of_a_callback_come_back_and_the_run_is_saved(text, tmp_path):
    def callback(metrics):
        if metrics["step"] == 4:
            raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        trained(text, tmp_path / "run", callback=callback)
    assert (tmp_path / "run/step-000004").is_dir()


@pytest.mark.parametrize(
    "flags, error",
    [
        (dict(n_layers=2), inkling.Usage), (dict(n_head=3), inkling.Usage), (dict(arch="gpt9"), inkling.Usage),
        (dict(data="/nowhere.txt"), inkling.BadInput), (dict(max_iters=-1), inkling.Usage),
        (dict(learning_rate=1e6, optimizer="sgd", grad_clip=0, momentum=0), inkling.Diverged),
    ],
)
def test_errors_are_the_commands(text, tmp_path, flags, error):
    flags = {"data": text, "recipe": "nanogpt-cpu", "quiet": True, **FLAGS, "out": tmp_path / "a", **flags}
    with pytest.raises(error) as told:
        inkling.train(**flags)
    arguments = [
        part
        for name, value in flags.items()
        if name not in ("quiet", "out")
        for part in ("--" + name.replace("_", "-"), value)
    ]
    command = run_command("train", *arguments, "--quiet", "--out", tmp_path / "b", check=False)
    assert command.stderr.splitlines()[-1] == f"inkling: {told.value}"
    assert command.returncode == {inkling.Usage: 2, inkling.BadInput: 3, inkling.Diverged: 4}[error]


def test_an_existing_run_is_kept(text, tmp_path):
    trained(text, tmp_path / "run", max_iters=2)
    with pytest.raises(inkling.Usage, match="already holds a run"):
        trained(text, tmp_path / "run")
    assert trained([text, str(text)], tmp_path / "run", overwrite=True, max_iters=2).metrics["step"][-1] == 2


def test_other_threads_run(text, tmp_path):
    with another_thread() as ticks:
        trained(text, tmp_path / "run", n_embd=128, batch_size=32, max_iters=40)
    assert len(ticks) > 20


def test_ctrl_c(text, tmp_path):
    code = f"""
import inkling
try:
    inkling.train({str(text)!r}, recipe="nanogpt-cpu", max_iters=10**6, eval_every=0, quiet=True,
                  out={str(tmp_path / 'run')!r},
                  callback=lambda m: print(m["step"], flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    while process.stdout.readline().strip() != "20":
        pass
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert rest.splitlines()[-1] == "interrupted" and process.returncode == 0
    assert list((tmp_path / "run").glob("step-*"))


def test_the_program(tmp_path):
    def python(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "inkling", *arguments], capture_output=True, text=True, cwd=tmp_path
        )

    assert python("--version").stdout == f"inkling {inkling.__version__}\n"
    assert "bfloat16" in python("info", "--cpu").stdout or python("info", "--cpu").returncode == 0
    refused = python("train", "--n-layers", "2")
    assert refused.returncode == 2 and refused.stderr.startswith("inkling: unknown flag --n-layers")
    checked = python("gradcheck", "--filter", "softmax", "--json")
    assert checked.returncode == 0 and all(json.loads(line)["passed"] for line in checked.stdout.splitlines())
