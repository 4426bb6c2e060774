import copy
import pickle
import re

import inkling
import numpy as np
import pytest
from conftest import ROOT, same, softmax
from inkling import Generator, Tensor, nn

rng = np.random.default_rng(5)


def x_of(*shape):
    return Tensor(rng.normal(size=shape))


def names_of(module):
    return [name for name, _ in module.named_parameters()]


def test_every_layer_is_there():
    classes = set()
    for path in [*(ROOT / "nn").glob("*.h"), *(ROOT / "nn/attention").glob("*.h")]:
        classes |= set(re.findall(r"^class (\w+) : public \w+<T>", path.read_text(), re.M))
    classes -= {"Score"}
    assert len(classes) > 18 and not [c for c in classes if not hasattr(nn, c)]
    functions = set()
    files = [f"nn/attention/{name}.h" for name in ("masks", "scaled_dot_product", "self_attention", "multi_head")]
    for name in [*files, "engine/ops/plain/attention_masks.h"]:
        text = (ROOT / name).read_text()
        functions |= set(re.findall(r"^[\w:<>]+ (\w+)\(", text, re.M))
    functions -= {"causal_weights"}  # a part of CausalAttention
    assert len(functions) > 8 and not [f for f in functions if not hasattr(nn, f)]


def test_linear_and_norms():
    layer = nn.Linear(Generator(1), 4, 3, dtype="float64")
    x = x_of(2, 4)
    assert np.allclose(layer(x).numpy(), x.numpy() @ layer.weight.numpy().T + layer.bias.numpy())
    assert set(nn.Linear(Generator(1), 4, 3, bias=False).state_dict()) == {"weight"}
    with pytest.raises(inkling.Error, match="forward: .*float32 and float64"):
        nn.Linear(Generator(1), 4, 3)(x)
    with pytest.raises(AttributeError, match="no parameter gain"):
        layer.gain
    n = x.numpy()
    assert np.allclose(
        nn.LayerNorm(4, dtype="float64")(x).numpy(),
        (n - n.mean(-1, keepdims=True)) / np.sqrt(n.var(-1, keepdims=True) + 1e-5)
    )
    assert np.allclose(nn.RMSNorm(4, dtype="float64")(x).numpy(), n / np.sqrt((n**2).mean(-1, keepdims=True) + 1e-5))
    table = nn.Embedding(Generator(1), 5, 2)
    assert np.array_equal(table([[1, 4]]).numpy(), table.weight.numpy()[[[1, 4]]])
    positions = nn.LearnedPositions(Generator(1), 6, 4, dtype="float64")
    assert np.allclose(positions(x, start=3).numpy(), n + positions.weight.numpy()[3:5])
    assert np.allclose(nn.sinusoidal_positions(3, 2)[:, 0], np.sin(np.arange(3)))
    mlp = nn.MLP(Generator(1), 4, 8, dtype="float64")
    p = mlp.state_dict()
    hidden = inkling.gelu(inkling.linear(x, p["c_fc.weight"], p["c_fc.bias"]))
    assert np.allclose(mlp(x).numpy(), inkling.linear(hidden, p["c_proj.weight"], p["c_proj.bias"]).numpy())


def test_dropout_drops_in_training_alone():
    layer = nn.Dropout(0.5)
    x = Tensor(np.ones(100, np.float32))
    assert 0 in layer(x, Generator(1)).numpy() and 0 in layer(x).numpy()
    with pytest.raises(inkling.Error):
        layer(x, None)
    layer.eval()
    assert not layer.training and np.array_equal(layer(x), x)


@pytest.mark.parametrize(
    "make",
    [
        lambda r: nn.SelfAttention(r, 8, 4, 8, dtype="float64"),
        lambda r: nn.CausalAttention(r, 8, 8, 6, dtype="float64"),
        lambda r: nn.CausalAttention(r, 8, 8, 6, mask="renormalize", dtype="float64"),
        lambda r: nn.MultiHeadAttention(r, 8, 8, 6, 0.0, 2, dtype="float64"),
        lambda r: nn.MultiHeadAttention.packed(r, 8, 6, 2, dtype="float64"),
        lambda r: nn.MultiHeadAttentionWrapper(r, 8, 4, 6, 0.0, 2, dtype="float64"),
    ],
)
def test_self_attention(make):
    layer, x = make(Generator(2)), x_of(2, 5, 8)
    output, weights = layer(x)
    w = weights.numpy()
    assert output.shape[:2] == (2, 5) and np.allclose(w.sum(-1), 1)
    if not isinstance(layer, nn.SelfAttention):
        assert not np.triu(w, 1).any()
        changed = x.numpy().copy()
        changed[:, 3:] += 1
        assert np.allclose(layer(Tensor(changed))[0].numpy()[:, :3], output.numpy()[:, :3])
    assert inkling.gradcheck(lambda x: layer(x)[0], [x]) < 1e-6
    output.sum().backward()
    assert all(p.grad.any() for name, p in layer.named_parameters() if "key" not in name or "bias" not in name)


def test_attention_by_its_parts():
    r = Generator(4)
    layer, x = nn.SelfAttention(r, 8, 4, 6, bias=False, dtype="float64"), x_of(2, 5, 8)
    p = {name: t.numpy() for name, t in layer.named_parameters()}
    q, k, v = (x.numpy() @ p[f"W_{name}.weight"].T for name in ("query", "key", "value"))
    weights = softmax(q @ k.swapaxes(1, 2) / 2)
    output, w = layer(x)
    assert np.allclose(w.numpy(), weights) and np.allclose(output.numpy(), weights @ v)
    q, k, v = x_of(2, 3, 4, 8), x_of(2, 3, 5, 8), x_of(2, 3, 5, 6)
    output, none = nn.scaled_dot_product_attention(q, k, v, causal=True, weights=False)
    same, kept = nn.scaled_dot_product_attention(q, k, v, mask=nn.look_ahead_mask(4, 5))
    assert none is None and np.allclose(output, same) and kept.shape == (2, 3, 4, 5)
    assert np.array_equal(nn.merge_heads(nn.split_heads(x, 2)), x)
    assert np.array_equal(nn.padding_mask([1, 2], 2)[:, 0, 0], [[1, 0], [1, 1]])
    assert np.array_equal(nn.document_mask([[0, 0, 2]])[0, 0], [[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    assert nn.alibi_slopes(2) == [2**-4, 2**-8] and nn.alibi_bias([0.5], 2, 2).numpy()[0, 0, 1, 0] == -0.5
    scores = x_of(2, 3, 4)
    assert np.allclose(nn.masked_softmax(scores, [2, 4]).numpy()[0, :, :2], softmax(scores.numpy()[0, :, :2]))
    assert (nn.sequence_mask(scores, [2, 4], -1.0).numpy()[0, :, 2:] == -1).all()
    assert np.allclose(inkling.attention(q, k, v, causal=True).numpy(), output.numpy())  # the same scale
    simple, w = nn.simple_self_attention(x)
    assert np.allclose(simple, softmax(x.numpy() @ x.numpy().swapaxes(1, 2)) @ x.numpy())


@pytest.mark.parametrize(
    "score",
    [
        lambda r: nn.DotScore(dtype="float64"), lambda r: nn.ScaledDotScore(dtype="float64"),
        lambda r: nn.BilinearScore(r, 4, 4, dtype="float64"), lambda r: nn.ConcatScore(r, 4, 4, dtype="float64"),
        lambda r: nn.AdditiveScore(r, 4, 4, 3, dtype="float64"),
    ],
)
def test_scores(score):
    scoring = score(Generator(3))
    layer = nn.Attention(scoring, 0.0)
    q, k, v = x_of(2, 3, 4), x_of(2, 5, 4), x_of(2, 5, 6)
    output, weights = layer(q, k, v, [5, 2])
    masked = np.where(np.arange(5) < np.array([5, 2])[:, None, None], scoring(q, k).numpy(), -1e6)
    assert np.allclose(weights.numpy(), softmax(masked)) and np.allclose(output.numpy(), softmax(masked) @ v.numpy())
    assert set(layer.state_dict()) == {f"score.{name}" for name in scoring.state_dict()}
    assert inkling.gradcheck(lambda q, k: layer(q, k, v)[0], [q, k]) < 1e-6
    with pytest.raises(TypeError, match="a score"):
        nn.Attention(nn.LayerNorm(3))


class Net(nn.Module):
    def __init__(self, random):
        self.body = nn.Sequential(nn.Linear(random, 2, 16), inkling.tanh, nn.Linear(random, 16, 2))
        self.scale = Tensor(1.0, requires_grad=True)

    def forward(self, x):
        return self.body(x) * self.scale


def test_a_net_of_ones_own_learns():
    x = rng.normal(size=(64, 2)).astype(np.float32)
    ids = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    net = Net(Generator(1))
    assert names_of(net) == ["body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias", "scale"]
    assert net.parameter_count() == 2 * 16 + 16 + 32 + 2 + 1
    losses = []
    for _ in range(300):
        net.zero_grad()
        loss = inkling.cross_entropy(net(Tensor(x)), ids)
        loss.backward()
        for p in net.parameters():
            p.data -= 0.5 * p.grad
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_state(tmp_path):
    a, b = (nn.MultiHeadAttention(Generator(seed), 8, 8, 4, 0.0, 2) for seed in (1, 2))
    a.save(tmp_path / "a.safetensors")
    assert b.load(tmp_path / "a.safetensors") == ([], [])
    assert all((p == q).all() for p, q in zip(a.parameters(), b.parameters()))
    with pytest.raises(inkling.BadInput, match="weight"):
        nn.Linear(Generator(1), 2, 2).load(tmp_path / "a.safetensors")


def test_a_checkpoint_has_the_same_gradient():
    layer, x = nn.MLP(Generator(1), 8, 16), Tensor.randn((4, 8), inkling.RandomKey(1), requires_grad=True)
    nn.checkpoint(layer, x).sum().backward()
    once = x.grad.copy()
    x.zero_grad()
    layer(x).sum().backward()
    assert np.array_equal(once, x.grad)


def test_modules_in_lists_and_dicts_are_found():
    class Blocks(nn.Module):
        def __init__(self, random):
            self.blocks = [nn.Linear(random, 2, 2, bias=False) for _ in range(2)]
            self.heads = {"a": (nn.Dropout(0.5), nn.RMSNorm(2))}
            self.scales = [Tensor([1.0], requires_grad=True), Tensor([1.0])]
            self.name = "blocks"

    net = Blocks(Generator(1))
    assert names_of(net) == ["blocks.0.weight", "blocks.1.weight", "heads.a.1.weight", "scales.0"]
    net.eval()
    assert not net.heads["a"][0].training


def values_of(module):
    return {name: p.numpy().copy() for name, p in module.state_dict().items()}


def test_a_modules_state(tmp_path):
    a, b = Net(Generator(1)), Net(Generator(2))
    b.mean = a.mean = Tensor([3.0])  # not trained, but part of the state
    assert "mean" not in names_of(a) and list(a.state_dict())[-2:] == ["scale", "mean"]
    a.save(tmp_path / "net.safetensors")
    assert sorted(inkling.load_tensors(tmp_path / "net.safetensors")) == sorted(a.state_dict())
    assert not same(values_of(a), values_of(b))
    assert b.load(tmp_path / "net.safetensors") == ([], []) and same(values_of(a), values_of(b))
    state = {name: p.numpy() for name, p in a.state_dict().items()}
    state["other"] = state.pop("scale")
    with pytest.raises(inkling.BadInput, match="scale is missing; other is not known"):
        b.load_state_dict(state)
    assert b.load_state_dict(state, strict=False) == (["scale"], ["other"])
    state["body.0.bias"] = np.zeros(1)
    with pytest.raises(inkling.BadInput, match=r"body.0.bias has shape \(1,\), the module's is \(16,\)"):
        b.load_state_dict(state, strict=False)
    masked = nn.Sequential(nn.CausalAttention(Generator(1), 4, 4, 4))
    with_mask = {**masked.state_dict(), "0.mask": np.ones((4, 4))}  # as in PyTorch's
    assert masked._ignored() == ["0.mask"] and masked.load_state_dict(with_mask) == ([], [])


def test_modules_are_frozen_and_initialized():
    net = Net(Generator(1))
    net.initialize(Generator(3), [("*bias", ("constant", 2)), ("*0.weight", ("normal", 0.1)), ("*", ("uniform", 0.5))])
    layer = nn.Linear(Generator(1), 2, 16)
    layer.initialize(Generator(3), [("bias", ("constant", 2)), ("*", ("normal", 0.1))])
    assert (net.body[0].bias == 2).all() and (net.body[0].weight == layer.weight).all()
    assert abs(net.scale.item()) < 0.5
    with pytest.raises(inkling.Error, match="'nothing' fits the name of no parameter"):
        net.initialize(Generator(1), [("nothing", ("constant", 0))])
    net.freeze(lambda name: name in ("scale", "body.2.weight"))
    assert "scale" in net.state_dict() and "scale" in names_of(net)
    assert not net.body[2].weight.requires_grad and net.body[0].weight.requires_grad
    net.freeze()
    assert not net(x_of(1, 2).astype("float32")).requires_grad
    net.scale.requires_grad = True
    assert net(x_of(1, 2).astype("float32")).requires_grad


def test_modules_are_shown():
    net = Net(Generator(1))
    assert repr(net) == (
        "Net(  # 83 parameters\n"
        "  (body): Sequential(  # 82 parameters\n"
        "    (0): Linear(weight (16, 2), bias (16,))  # 48 parameters\n"
        "    (2): Linear(weight (2, 16), bias (2,))  # 34 parameters\n"
        "  )\n"
        "  (scale): ()\n"
        ")"
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(copied):
    net = Net(Generator(1))
    net.body.append(nn.Dropout(0.5))
    net.eval()
    net.body[0].freeze(lambda name: name == "bias")
    other = copied(net)
    assert same(values_of(net), values_of(other)) and not other.training and not other.body[3].training
    assert other.scale.requires_grad and not other.body[0].bias.requires_grad and other.body[0].weight.requires_grad
    other.scale.data[...] = 5
    other.body[0].weight.data[...] = 5
    assert net.scale.item() == 1 and not (net.body[0].weight == 5).any()
    x = x_of(1, 3, 8)
    for layer in (
        nn.MultiHeadAttention.packed(Generator(1), 8, 8, 2, dtype="float64"),
        nn.CausalAttention(Generator(1), 8, 8, 8, mask="renormalize", dtype="float64"),
        nn.Attention(nn.BilinearScore(Generator(1), 8, 8, dtype="float64"), 0.0),
        nn.LayerNorm(8, bias=False, dtype="float64"),
    ):
        inputs = [x] * 3 if isinstance(layer, nn.Attention) else [x]
        twin, outputs = copied(layer), []
        for one in (layer, twin):
            one.eval()
            y = one(*inputs)
            outputs.append((y[0] if isinstance(y, tuple) else y).numpy())
        assert np.array_equal(*outputs) and repr(twin) == repr(layer)
    w = copied(Tensor(np.ones(2), requires_grad=True))
    assert w.requires_grad and w.dtype == "float64"
    with pytest.raises(TypeError, match="only a leaf"):
        copied(w * 2)
    random = Generator(5)
    random.next()
    assert copied(random).next().stream == random.next().stream


def test_module_list():
    blocks = nn.ModuleList(nn.Linear(Generator(i), 2, 2, bias=False) for i in range(2))
    blocks.append(nn.RMSNorm(2))
    assert names_of(blocks) == ["0.weight", "1.weight", "2.weight"]
    assert len(blocks) == 3 and [block for block in blocks][2] is blocks[-1]
