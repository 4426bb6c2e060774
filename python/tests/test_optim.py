"""Optimizers: PyTorch's numbers, groups, clipping, schedules, and the state between steps."""

import copy
import json
import pickle

import inkling
import numpy as np
import pytest
from conftest import ROOT, array, same
from inkling import Generator, Tensor, nn, optim

STEPS = json.loads((ROOT / "tests/reference/optimizers.json").read_text())


def options_of(name, case):
    options = {key: value for key, value in case.items() if key not in ("start", "steps", "ns_coefficients")}
    if name == "Muon":
        options["scale"] = {"original": "original", "match_rms_adamw": "adamw"}[options.pop("adjust_lr_fn")]
    return options


CASES = [(name, case) for name in ("SGD", "Adam", "AdamW", "Muon") for case in STEPS[name.lower()]]


@pytest.mark.parametrize("name, case", CASES, ids=[name for name, _ in CASES])
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 2e-5)])
def test_steps_are_pytorchs(name, case, dtype, tolerance):
    p = Tensor(array(case["start"]), dtype=dtype, requires_grad=True)
    if name == "Muon":  # ours divides by |U| + 1e-7, PyTorch by max(|U|, 1e-7)
        tolerance = max(tolerance, 1e-6)
    optimizer = getattr(optim, name)([p], lr=1.0, **options_of(name, case))
    for step in case["steps"]:
        optimizer.zero_grad()
        (p * Tensor(array(step["gradient"]), dtype=dtype)).sum().backward()
        optimizer.param_groups[0]["lr"] = step["rate"]
        optimizer.step()
        np.testing.assert_allclose(p.numpy(), array(step["after"]), rtol=tolerance, atol=tolerance)


def trained(net, optimizer, steps=5):
    x, ids = np.random.default_rng(0).normal(size=(8, 3)), [0, 1] * 4
    for _ in range(steps):
        optimizer.zero_grad()
        inkling.cross_entropy(net(Tensor(x, dtype="float32")), ids).backward()
        optimizer.step()
    return {name: p.numpy().copy() for name, p in net.named_parameters()}


def net_of(seed=1):
    random = Generator(seed)
    return nn.Sequential(nn.Linear(random, 3, 5), inkling.tanh, nn.Linear(random, 5, 2))


def test_groups_are_optimizers_of_their_own():
    net, apart = net_of(), net_of()
    p, q = net.state_dict(), apart.state_dict()
    matrices, vectors = ["0.weight", "2.weight"], ["0.bias", "2.bias"]
    together = trained(
        net,
        optim.AdamW(
            [
                {"params": [p[name] for name in matrices], "weight_decay": 0.5},
                {"params": {name: p[name] for name in vectors}, "lr": 0.2},
            ],
            lr=0.1,
            weight_decay=0.0,
        ),
    )
    each = [
        optim.AdamW([q[name] for name in matrices], lr=0.1, weight_decay=0.5),
        optim.AdamW([q[name] for name in vectors], lr=0.2, weight_decay=0.0),
    ]

    class Both:
        def __getattr__(self, name):
            return lambda: [getattr(one, name)() for one in each]

    assert same(together, trained(apart, Both()))
    assert not same(together, trained(net_of(), optim.AdamW(net_of(), lr=0.1)))


def test_parameters_stay_where_they_are():
    memory = np.ones(3, np.float32)
    w, constant = Tensor(memory, requires_grad=True), Tensor([1.0])
    optimizer = optim.SGD([w, constant], lr=0.5)
    assert len(optimizer.param_groups[0]["params"]) == 1
    y = w * w
    y.sum().backward()
    optimizer.step(0.5)
    assert np.array_equal(memory, [0.5] * 3) and np.shares_memory(w.numpy(), memory)
    y = w * w
    optimizer.step()
    with pytest.raises(inkling.Error, match="mul"):  # its backward needs the old value
        y.sum().backward()
    for wrong in ([], [constant], [w * 2]):
        with pytest.raises(inkling.Error, match="optimizer"):
            optim.Adam(wrong)
    with pytest.raises(TypeError):
        optim.Adam([{"params": [w], "momentum": 1}])
    with pytest.raises(inkling.Error, match="float32 and float64"):
        optim.Adam([w, Tensor(np.ones(2), requires_grad=True)])


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.Muon])
def test_state_goes_on_to_the_same_bits(kind):
    options = {"momentum": 0.9} if kind is optim.SGD else {}
    whole_net = net_of()
    whole = trained(whole_net, kind(whole_net, **options), 6)
    net = net_of()
    optimizer = kind(net, **options)
    trained(net, optimizer, 3)
    state = pickle.loads(pickle.dumps(optimizer.state_dict()))
    resumed = copy.deepcopy(net)
    other = kind(resumed, lr=99, **options)
    other.load_state_dict(state)
    assert same(trained(resumed, other, 3), whole)
    before = other.state_dict()
    wrong = [
        ("is missing", {name: value for name, value in state.items() if not name.startswith("0.0.")}),
        ("is not of this optimizer", {**state, "0.4.adamw.m": state["0.updates"]}),  # of more parameters
        ("is not of this optimizer", {**state, "1.lr": 0.1}),  # of more groups
        ("shape", {**state, **{name: np.zeros(7, np.float32) for name in state if name.startswith("0.3.")}}),
        ("missed", {**state, "0.missed": [0]}),
    ]
    for match, bad in wrong:
        with pytest.raises(ValueError, match=match):
            other.load_state_dict({**bad, "0.lr": 5.0})
    after = other.state_dict()
    assert after.keys() == before.keys() and all(np.array_equal(after[name], before[name]) for name in after)


KINDS = [
    (optim.SGD, {}), (optim.SGD, {"momentum": 0.9, "weight_decay": 0.5}),
    (optim.SGD, {"momentum": 0.9, "nesterov": True}), (optim.Adam, {}), (optim.AdamW, {"weight_decay": 0.5}),
    (optim.Muon, {"weight_decay": 0.5}),
]


def matrix(seed, shape=(4, 3)):
    return Tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


def run(kind, options, seeds, reached, steps=6):
    """The parameters after steps in which parameter i gets a gradient if reached(i, step)."""
    params = {i: matrix(i) for i in seeds}
    optimizer = kind(params, lr=0.1, **options)
    for step in range(steps):
        optimizer.zero_grad()
        for i, p in params.items():
            if reached(i, step):
                (p * np.random.default_rng(10 * step + i).normal(size=p.shape)).sum().backward()
        optim.clip_grad_norm(params, 1e9)
        optimizer.step()
    return params


@pytest.mark.parametrize("kind, options", KINDS)
def test_a_step_leaves_what_has_no_gradient(kind, options):
    taken = {1: range(6), 2: (0, 4), 3: range(2, 6), 4: ()}  # the steps with a gradient
    together = run(kind, options, taken, lambda i, step: step in taken[i])
    assert together[4].grad is None and together[2].grad is None and together[1].grad is not None
    assert np.array_equal(together[4].numpy(), matrix(4).numpy())
    for i in (1, 2, 3):  # as alone, with an optimizer that only steps when there is a gradient
        p = matrix(i)
        alone = kind([p], lr=0.1, **options)
        for step in taken[i]:
            alone.zero_grad()
            (p * np.random.default_rng(10 * step + i).normal(size=p.shape)).sum().backward()
            alone.step()
        np.testing.assert_allclose(p.numpy(), together[i].numpy(), rtol=1e-12, atol=1e-12)
        assert not np.array_equal(p.numpy(), matrix(i).numpy())


@pytest.mark.parametrize("kind, options", KINDS)
def test_what_is_frozen_stays_and_moves_again_after(kind, options):
    p, q, layer = matrix(1), matrix(2), nn.Linear(Generator(1), 3, 2, dtype="float64")
    optimizer = kind([p, q, *layer.parameters()], lr=0.1, **options)

    def step():
        if q.requires_grad:
            (q * q).sum().backward()
        (layer(p) ** 2).sum().backward()
        optimizer.step()
        return [x.numpy().copy() for x in (p, q, layer.weight, layer.bias)]

    before = step()
    q.requires_grad = False
    layer.freeze(lambda name: name == "weight")
    assert q.grad is None and layer.weight.grad is None
    after = step()  # without zero_grad(): the old gradients are gone
    assert [np.array_equal(a, b) for a, b in zip(before, after)] == [False, True, True, False]
    optimizer.zero_grad()
    assert np.array_equal(q.numpy(), step()[1])
    q.requires_grad = True
    assert not np.array_equal(step()[1], before[1])


@pytest.mark.parametrize(
    "kind, made, changed",
    [
        (optim.SGD, {"momentum": 0.9}, {"momentum": 0.5}), (optim.SGD, {"momentum": 0.9}, {"nesterov": True}),
        (optim.SGD, {}, {"weight_decay": 0.5}), (optim.Adam, {}, {"betas": (0.5, 0.9)}), (optim.Adam, {}, {"eps": 0.1}),
        (optim.AdamW, {}, {"weight_decay": 0.9}), (optim.Muon, {}, {"momentum": 0.5}),
        (optim.Muon, {}, {"scale": "adamw"}), (optim.Muon, {}, {"weight_decay": 0.9}),
    ],
)
def test_options_set_in_param_groups_count(kind, made, changed):
    def steps(change):
        p = matrix(1)
        optimizer = kind([p], lr=0.1, **made)
        for i in range(4):
            if i == 2 and change == "options":
                optimizer.param_groups[0].update(changed)
            if i == 2 and change == "state":
                state = optimizer.state_dict()
                optimizer = kind([p], lr=0.1, **{**made, **changed})
                options = {f"0.{name}": value for name, value in changed.items()}
                optimizer.load_state_dict({**state, **options})
            optimizer.zero_grad()
            (p * p * matrix(7).numpy()).sum().backward()
            optimizer.step()
        return p.numpy()

    assert np.array_equal(steps("options"), steps("state"))
    assert not np.array_equal(steps("options"), steps("none"))


def test_the_weight_decay_of_adam_is_a_part_of_the_gradient():
    a, b = matrix(1), matrix(1)
    decayed, plain = optim.Adam([a], weight_decay=0.3), optim.Adam([b])
    for _ in range(3):
        for p, optimizer in ((a, decayed), (b, plain)):
            optimizer.zero_grad()
            (p * p).sum().backward()
        before = a.grad.copy()
        b.grad += 0.3 * b.numpy()
        decayed.step(), plain.step()
        assert np.array_equal(a.grad, before)
    assert np.array_equal(a.numpy(), b.numpy())


def test_what_pytorch_refuses_is_refused():
    a, b = matrix(1), matrix(2)
    for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Muon):
        for lr in (-1.0, float("nan")):
            with pytest.raises(ValueError, match="lr must be at least 0"):
                kind([a], lr=lr)
        (a * a).sum().backward()
        optimizer = kind([a])
        optimizer.param_groups[0]["lr"] = -1.0
        before = a.numpy().copy()
        with pytest.raises(ValueError, match="learning rate must be at least 0"):
            optimizer.step()
        assert np.array_equal(a.numpy(), before)
        for groups in ([{"params": [a]}, {"params": [a]}], [{"params": [a, b]}, {"params": {"b": b}, "lr": 1.0}]):
            with pytest.raises(ValueError, match="is in two groups"):
                kind(groups)
    refused = [
        (optim.SGD, {"nesterov": True}, "nesterov needs a momentum"), (optim.AdamW, {"betas": (0.9, -0.1)}, "beta2"),
        (optim.Adam, {"eps": float("nan")}, "eps"), (optim.Adam, {"weight_decay": -0.1}, "weight_decay"),
        (optim.Muon, {"adamw_rate": -1.0}, "rate"),
    ]
    for kind, options, match in refused:
        with pytest.raises(ValueError, match=match):
            kind([a], **options)
        optimizer = kind([a])
        optimizer.param_groups[0].update(options)
        with pytest.raises(ValueError, match=match):
            optimizer.step()
    optimizer = optim.Adam([a])
    optimizer.param_groups[0]["momentum"] = 0.9
    with pytest.raises(TypeError, match="no argument momentum"):
        optimizer.step()
    optimizer = optim.SGD([a])
    optimizer.param_groups.append({"params": [b], "lr": 0.1})
    with pytest.raises(ValueError, match="add_param_group"):
        optimizer.step()
    optimizer = optim.SGD([a])
    optimizer.param_groups[0]["params"].append(b)
    with pytest.raises(ValueError, match="made for 1 parameters, got 2"):
        optimizer.step()


def test_a_tied_parameter_is_one_and_a_group_may_come_later():
    class Tied(nn.Module):
        def __init__(self):
            self.table, self.out = nn.Embedding(Generator(1), 5, 3, dtype="float64"), matrix(1)
            self.head = self.out

    net, b = Tied(), matrix(2)
    optimizer = optim.AdamW(net, lr=0.1)
    assert len(optimizer.param_groups[0]["params"]) == 2
    optimizer.add_param_group({"params": [b], "lr": 0.5})
    (b * b).sum().backward()
    optimizer.step()
    assert np.allclose(b.numpy(), matrix(2).numpy() * (1 - 0.005) - 0.5 * np.sign(matrix(2).numpy()), atol=1e-6)


def test_clipping():
    a, b = Tensor([1.0, 1.0], requires_grad=True), Tensor([[1.0]], requires_grad=True)
    (3 * a.sum() + (b * [[4.0]]).sum()).backward()
    norm = np.sqrt(9 + 9 + 16)
    assert optim.clip_grad_norm([a, b], 100) == pytest.approx(norm) and np.array_equal(a.grad, [3, 3])
    assert optim.clip_grad_norm({"a": a, "b": b}, 1.0) == pytest.approx(norm)
    assert np.allclose(a.grad, 3 / norm) and np.allclose(b.grad, 4 / norm)
    with pytest.raises(ValueError, match="at least 0"):
        optim.clip_grad_norm([a, b], -1.0)
    optim.clip_grad_norm([a, b], 0.0)  # as in PyTorch
    assert not a.grad.any() and not b.grad.any()


def test_schedules():
    cosine = optim.Schedule("cosine", steps=10, warmup=4, peak=2.0, floor=1.0)
    assert [cosine(i) for i in (0, 3, 4, 7, 10, 99)] == pytest.approx([0.4, 1.6, 2, 1.5, 1, 1])
    assert optim.Schedule("linear", 4)(1) == 0.75 and optim.Schedule("constant", 4)(9) == 1
    assert optim.Schedule("wsd", 10, decay_fraction=0.4)(5) == 1
    with pytest.raises(TypeError):
        optim.Schedule("zigzag", 4)
