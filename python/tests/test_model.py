import inkling
import numpy as np
import pytest
from conftest import ROOT, run_command
from inkling import Model, Tokenizer


@pytest.fixture(scope="session")
def model(run):
    return Model.from_pretrained(run)


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(temperature=0),
        dict(top_k=3, top_p=0.9),
        dict(stop=["."], precision="bf16"),
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
    for p in model.parameters().values():
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
    assert all(p.grad.any() for p in model.parameters().values())
    weights = model.attention(ids)
    assert len(weights) == model.config["n_layer"] and np.allclose(weights[0].numpy().sum(-1), 1, atol=1e-5)
    with pytest.raises(inkling.Error, match="ids \\(B, T\\)"):
        model.logits(np.zeros((1, 99), int))


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
