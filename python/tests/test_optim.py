"""Optimizers: PyTorch's numbers, groups, clipping, schedules, and the state between steps."""

import copy
import json
import pickle

import inkling
import numpy as np
import pytest
from conftest import ROOT
from inkling import Generator, Tensor, nn, optim

STEPS = json.loads((ROOT / "tests/reference/optimizers.json").read_text())


def array(stored):
    return np.array(stored["data"]).reshape(stored["shape"])


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
    return {name: p.numpy().copy() for name, p in net.parameters().items()}


def net_of(seed=1):
    random = Generator(seed)
    return nn.Sequential(nn.Linear(random, 3, 5), inkling.tanh, nn.Linear(random, 5, 2))


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_groups_are_optimizers_of_their_own():
    net, apart = net_of(), net_of()
    p, q = net.parameters(), apart.parameters()
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
    with pytest.raises(inkling.Error, match="is missing"):
        other.load_state_dict({name: value for name, value in state.items() if not name.startswith("0.0.")})


def test_clipping():
    a, b = Tensor([1.0, 1.0], requires_grad=True), Tensor([[1.0]], requires_grad=True)
    (3 * a.sum() + (b * [[4.0]]).sum()).backward()
    norm = np.sqrt(9 + 9 + 16)
    assert optim.clip_grad_norm([a, b], 100) == pytest.approx(norm) and np.array_equal(a.grad, [3, 3])
    assert optim.clip_grad_norm({"a": a, "b": b}, 1.0) == pytest.approx(norm)
    assert np.allclose(a.grad, 3 / norm) and np.allclose(b.grad, 4 / norm)


def test_schedules():
    cosine = optim.Schedule("cosine", steps=10, warmup=4, peak=2.0, floor=1.0)
    assert [cosine(i) for i in (0, 3, 4, 7, 10, 99)] == pytest.approx([0.4, 1.6, 2, 1.5, 1, 1])
    assert optim.Schedule("linear", 4)(1) == 0.75 and optim.Schedule("constant", 4)(9) == 1
    assert optim.Schedule("wsd", 10, decay_fraction=0.4)(5) == 1
    with pytest.raises(TypeError):
        optim.Schedule("zigzag", 4)
