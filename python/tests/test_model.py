import re

import inkling
import numpy as np
import pytest
from conftest import ROOT, run_command
from inkling import Model, Tensor, Tokenizer


@pytest.fixture(scope="session")
def model(run):
    return Model.from_pretrained(run)


@pytest.mark.parametrize(
    "options",
    [
        {}, dict(temperature=0), dict(top_k=3, top_p=0.9), dict(stop=["."], precision="bf16"),
        dict(repeat_penalty=1.3, max_tokens=5),
    ],
)
def test_text_is_the_commands(run, model, options):
    options = {"max_tokens": 60, "seed": 11, **options}
    flags = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            flags += ["--" + name.replace("_", "-"), one]
    told = run_command("generate", "--model", run, "--prompt", "12 times", "--no-prompt", *flags).stdout
    pieces = list(model.generate("12 times", **options))
    assert "".join(pieces) + "\n" == told
    assert len(pieces) > 1 or "stop" in options


def test_writing_streams(model):
    text = model.generate("1", max_tokens=8, seed=1)
    first = next(text)
    assert text.finish_reason == "none" and len(text.tokens) < 8
    rest = "".join(text)
    assert text.finish_reason == "length" and len(text.tokens) == 8 and text.seed == 1
    assert first + rest == model.tokenizer.decode(text.tokens)
    assert "".join(model.generate(model.tokenizer.encode("1"), max_tokens=8, seed=1)) == first + rest
    with pytest.raises(inkling.Error, match="--temperature"):
        model.generate("1", temperature=-1)
    with pytest.raises(inkling.Error, match="precision must be one of"):
        model.generate("1", precision="fp8")


def test_generating_follows_the_weights(run):
    model = Model.from_pretrained(run)
    before = "".join(model.generate("1", temperature=0, max_tokens=20))
    assert "".join(model.generate("1", temperature=0, max_tokens=20)) == before
    for p in model.parameters():
        p.data *= -1
    assert "".join(model.generate("1", temperature=0, max_tokens=20)) != before


def test_logits_and_loss(model, text):
    ids = np.array(model.tokenizer.encode(text.read_text()[:20]))
    logits = model.logits(ids)
    assert logits.shape == (1, 20, model.config["vocab_size"])
    z = logits.numpy()[0].astype(np.float64)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    expected = -log_p[np.arange(19), ids[1:]].mean()
    assert model.loss(ids).item() == pytest.approx(expected, rel=1e-5)
    assert model.loss(ids[None, :-1], ids[None, 1:]).item() == pytest.approx(expected, rel=1e-5)
    model.zero_grad()
    model.loss(ids).backward()
    assert all(p.grad.any() for p in model.parameters())
    weights = model.attention(ids)
    assert len(weights) == model.config["n_layer"] and np.allclose(weights[0].numpy().sum(-1), 1, atol=1e-5)
    with pytest.raises(inkling.Error, match="ids \\(B, T\\)"):
        model.logits(np.zeros((1, 99), int))


def test_config_has_every_field_of_the_architecture(model):
    body = re.search(r"struct Architecture {(.*?)kv_heads\(\)", (ROOT / "models/architecture.h").read_text(), re.S)[1]
    body = re.sub(r"//.*|\{[^{}]*\}", "", body)
    fields = re.findall(r"(\w+)(?: =[^,;]*)?[,;]", body)
    assert len(fields) > 40 and set(fields) == set(model.config)


def test_run_captures_what_goes_through_the_model(model):
    ids = np.array([model.tokenizer.encode("12 times 3 is")])
    T, L = ids.shape[1], model.config["n_layer"]
    logits, states = model.run(ids, capture=model.names)
    assert (logits == model.logits(ids)).all() and list(states) == sorted(model.names)
    last = f"layers.{L - 1}."
    x = states[last + "input"] + states[last + "attention_output"] + states[last + "mlp_output"]
    assert np.allclose(x.numpy(), states[last + "output"].numpy(), atol=1e-5)
    assert states["layers.0.heads"].shape == (1, T, model.config["n_head"], model.config["head_dim"])
    assert states["final"].requires_grad and model.run(ids)[1] == {}
    with inkling.no_grad():
        assert not model.run(ids, ["final"])[1]["final"].requires_grad
    with pytest.raises(ValueError, match="did you mean layers.0.output"):
        model.run(ids, ["layers.0.ouput"])
    with pytest.raises(ValueError, match="did you mean layers.0.output"):
        model.run(ids, patch={"layers.0.ouput": 0})


def test_run_patches_a_state(model):
    ids = np.array([model.tokenizer.encode("12 times 3 is")])
    name = "layers.0.output"
    before, states = model.run(ids, [name])
    x = states[name].numpy().copy()

    def patched(change):
        logits, states = model.run(ids, [name], patch={name: change})
        return logits.numpy(), states[name].numpy()

    # by itself, in every way that changes nothing
    for change in (x, lambda state: state, ([1, 4], x[:, [1, 4]]), (2, x[:, 2]), (slice(3), lambda part: part)):
        assert np.array_equal(patched(change)[0], before.numpy())
    changes = {
        "all": (0, lambda y: np.zeros_like(y)),
        "one": ((5, 1.0), lambda y: np.concatenate([y[:, :5], np.ones_like(y[:, 5:6]), y[:, 6:]], 1)),
        "some": (([-1, 0], lambda part: 2 * part), lambda y: y * np.array([2] + [1] * (y.shape[1] - 2) + [2])[:, None]),
        "slice": ((slice(2, 4), np.arange(x.shape[2])), lambda y: np.stack([np.arange(x.shape[2]) if t in (2, 3) else y[0, t] for t in range(y.shape[1])])[None]),
    }
    for kind, (change, by_hand) in changes.items():
        logits, seen = patched(change)
        assert np.array_equal(seen, by_hand(x).astype(np.float32)), kind
        assert np.array_equal(logits, patched(by_hand(x))[0]), kind
        assert not np.array_equal(logits, before.numpy()), kind
    # gradients flow into what takes its place: the slope along a direction is the gradient's
    direction = np.random.default_rng(0).normal(size=x[:, 3].shape).astype(np.float32)
    given = Tensor(x[:, 3].copy(), requires_grad=True)
    model.run(ids, patch={name: (3, given)})[0].logsumexp(-1).mean().backward()
    at = [model.run(ids, patch={name: (3, x[:, 3] + h * direction)})[0].logsumexp(-1).mean().item() for h in (-3e-3, 3e-3)]
    assert (given.grad * direction).sum() == pytest.approx((at[1] - at[0]) / 6e-3, rel=2e-2, abs=2e-4)
    with pytest.raises(IndexError):
        patched((99, 0))
    with pytest.raises(ZeroDivisionError):
        patched(lambda state: 1 / 0)


def test_a_folder_without_a_tokenizer_has_ids(model, tmp_path):
    model.save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).unlink()
    bare = Model.from_pretrained(tmp_path)
    assert bare.tokenizer.kind == "ids" and bare.tokenizer.encode("3 1") == [3, 1]
    assert (bare.logits([3, 1]) == model.logits([3, 1])).all()
    pieces = list(bare.generate([3, 1], max_tokens=4, temperature=0))
    assert len("".join(pieces).split()) == 4
    bare.save_pretrained(tmp_path / "again")
    assert not (tmp_path / "again/tokenizer.json").exists()


def test_saved_models_are_the_same(model, tmp_path):
    model.save_pretrained(tmp_path / "saved")
    again = Model.from_pretrained(tmp_path / "saved")
    assert (again.logits([1, 2]) == model.logits([1, 2])).all() and again.config == model.config
    model.save_pretrained(tmp_path / "half", dtype="BF16")
    assert (tmp_path / "half/model.safetensors").stat().st_size < 0.6 * (
        tmp_path / "saved/model.safetensors"
    ).stat().st_size
    with pytest.raises(inkling.Error, match="F32, F16 or BF16"):
        model.save_pretrained(tmp_path / "no", dtype="F13")


def test_models_of_transformers_open():
    model = Model.from_pretrained(ROOT / "tests/reference/gpt2_tiny")
    assert model.config["family"] == "gpt2" and np.isfinite(model.logits([1, 2, 3]).numpy()).all()


def test_wrong_folders_are_refused_as_by_the_command(tmp_path):
    told = run_command("info", "--model", tmp_path, check=False)
    with pytest.raises(inkling.BadInput) as error:
        Model.from_pretrained(tmp_path)
    assert (
        f"inkling: {error.value}\n" == run_command("generate", "--model", tmp_path, check=False).stderr
        and told.returncode == 3
    )


def test_tokenizers(run, text, tmp_path):
    tokenizer = Tokenizer.from_pretrained(run)
    sample = text.read_text()[:500]
    ids = tokenizer.encode(sample)
    (tmp_path / "sample.txt").write_text(sample)
    told = run_command("tokenize", "encode", "--tokenizer", run, "-f", tmp_path / "sample.txt").stdout
    assert ids == [int(i) for i in told.split()] and tokenizer.decode(ids) == sample
    run_command("tokenize", "train", "--data", text, "--vocab-size", 300, "--out", tmp_path / "tokenizer.json")
    learned = Tokenizer.train([text.read_text()], vocab_size=300)
    assert (
        learned.to_json() == (tmp_path / "tokenizer.json").read_text() and learned.kind == "bpe" and len(learned) == 300
    )
    learned.save(tmp_path / "again.json")
    assert Tokenizer.from_pretrained(tmp_path / "again.json").encode("12 is 3 é") == learned.encode("12 is 3 é")
    with pytest.warns(UserWarning, match="'é'"):
        tokenizer.encode("é")
    with pytest.raises(inkling.BadInput):
        Tokenizer.from_pretrained(run, strict_vocabulary=True).encode("é")
    assert Tokenizer.train(["abc"], kind="char").encode("cab") == [2, 0, 1]
