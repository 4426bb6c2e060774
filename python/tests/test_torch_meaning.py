"""Where PyTorch's meaning is easily missed: arrays of integers, writing in place, arguments, modules' states, schedules
that act together. Values are NumPy's, or PyTorch's written down."""

import copy
import pickle

import inkling as torch
import inkling.nn.functional as F
import numpy as np
import pytest
from inkling import nn
from inkling.nn.functional import scaled_dot_product_attention as attend

I = np.array([[3, 1, 2], [6, 5, 4]])  # noqa: E741
IDS = torch.tensor(I)
A = np.arange(6.0, dtype=np.float32).reshape(2, 3) - 2
X, W = torch.tensor(A), torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    "y, expected",
    [
        (lambda: IDS.transpose(0, 1), I.T), (lambda: IDS.flatten(start_dim=0), I.ravel()),
        (lambda: IDS.unsqueeze(1).squeeze(0), I[:, None]), (lambda: IDS.repeat(2, 1), np.tile(I, (2, 1))),
        (lambda: IDS.repeat_interleave(torch.tensor([0, 2]), dim=0), I[[1, 1]]), (lambda: IDS.max(1).values, I.max(1)),
        (lambda: IDS.min(dim=0)[1], I.argmin(0)), (lambda: IDS.max(), I.max()), (lambda: IDS.max(axis=0), I.max(0)),
        (lambda: IDS.sort(1, descending=True)[0], -np.sort(-I, 1)), (lambda: IDS.sort().indices, np.argsort(I, 1)),
        (lambda: IDS.argsort(dim=1), np.argsort(I, 1)),
        (lambda: IDS.topk(2, largest=False).values, np.sort(I, 1)[:, :2]),
        (lambda: (IDS > 3).nonzero(), np.argwhere(I > 3)),
        (lambda: IDS.masked_fill(IDS > 3, -100), np.where(I > 3, -100, I)),
        (lambda: IDS.clone().fill_(7), np.full_like(I, 7)),
        (lambda: IDS.sum(dim=1, keepdim=True), I.sum(1, keepdims=True)), (lambda: torch.sum(IDS, dim=0), I.sum(0)),
        (lambda: torch.flip(IDS, [0]), I[::-1]), (lambda: torch.where(IDS > 3, IDS, 0), np.where(I > 3, I, 0)),
        (lambda: torch.full((2,), 3), np.full(2, 3)), (lambda: torch.where(X > 0, 1.0, 0.0), (A > 0).astype(float)),
        (lambda: torch.max(X, 1)[0], A.max(1)), (lambda: X.max(dim=0, keepdim=True).values, A.max(0, keepdims=True)),
        (lambda: X[1, 2].min(-1)[0], A[1, 2]), (lambda: torch.max(X, torch.zeros(3)), A.clip(0)),
        (lambda: X.var(0, False), A.var(0)), (lambda: X.std(unbiased=True), A.std(ddof=1)), (lambda: X.squeeze(0), A),
        (lambda: X.round(decimals=-1), A.round(-1)), (lambda: X.div(2, rounding_mode="trunc"), np.trunc(A / 2)),
        (lambda: X.div(2, rounding_mode="floor"), A // 2), (lambda: X.norm("fro", 1), np.linalg.norm(A, axis=1)),
        (lambda: torch.zeros(2, 7).scatter_(1, IDS, 1.0), np.eye(7)[I].sum(1)),
        (lambda: torch.tensor(-0.0).clone().reciprocal(), np.array(-np.inf)),
        (lambda: F.softplus(X, beta=2, threshold=1), np.where(A * 2 > 1, A, np.log1p(np.exp(2 * A)) / 2)),
        (lambda: F.softmax(torch.zeros(2, 2, 4)), np.full((2, 2, 4), 0.5)),
        (lambda: F.conv_transpose2d(torch.ones(1, 2, 2), torch.ones(1, 1, 1, 1)), np.ones((1, 2, 2))),
    ],
)
def test_values(y, expected):
    y, expected = y(), np.asarray(expected)
    assert y.shape == expected.shape and np.allclose(y.numpy(), expected, atol=1e-6)
    assert isinstance(y, torch.Tensor) == (expected.dtype.kind == "f")


def test_numpys_functions_of_an_array_are_numpys():
    assert np.array_equal(np.nonzero(IDS > 3), np.nonzero(I > 3)) and np.std(IDS) == I.std()
    assert np.array_equal(np.transpose(IDS, (0, 1)), I) and np.array_equal(np.repeat(IDS, 2), I.repeat(2))
    assert np.max(IDS, 1).tolist() == [3, 6] and isinstance(np.concatenate([IDS, I]), torch.Array)
    grad = torch.tensor([1.0, 3.0], requires_grad=True)
    (grad * grad).sum().backward()
    assert grad.grad.std() == pytest.approx(8**0.5) and np.std(grad.grad) == 2


def test_the_maximum_of_an_axis_gets_the_gradient():
    x = torch.tensor([[1.0, 1.0, 0.0]], requires_grad=True)
    torch.max(x, 1).values.backward(torch.ones(1))
    assert x.grad.tolist() == [[1, 0, 0]]
    x.grad = None
    x.amax(1).sum().backward()  # ties share it
    assert x.grad.tolist() == [[0.5, 0.5, 0]]


def test_set_grad_enabled_acts_from_now_on():
    w = torch.ones(1, requires_grad=True)
    torch.set_grad_enabled(False)
    assert not (w * 1).requires_grad and w.is_leaf
    with torch.set_grad_enabled(True):
        assert (w * 1).requires_grad and not (w * 1).is_leaf
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


def test_a_gradient_that_is_set_passes_no_hook():
    w = torch.ones(2, requires_grad=True)
    w.register_hook(lambda dy: 2 * dy)
    w.grad = np.array([1.0, 2.0])
    assert w.grad.tolist() == [1, 2]
    with pytest.raises(ValueError, match="shape"):
        w.grad = np.ones(1)


def test_binary_cross_entropy_at_its_edges():
    p = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.25], requires_grad=True)
    loss = F.binary_cross_entropy(p, torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0]), reduction="none")
    loss.sum().backward()
    assert np.allclose(loss.numpy(), [0, 0, 100, 100, np.log(4)]) and np.allclose(p.grad, [0, 0, -1e12, 1e12, -4])


def test_random_integers_below_0():
    drawn = torch.randint(-2, 1, (3000,))
    assert sorted(set(drawn.tolist())) == [-2, -1, 0] and np.bincount(drawn + 2).min() > 900
    assert torch.randint(high=3, size=(2, 2), dtype=torch.int32).dtype == "int32"
    assert torch.rand(size=(2,)).shape == (2,)
    assert torch.normal(torch.zeros(3, dtype=torch.float64), 1.0).dtype == "float64"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("ids", torch.arange(3))
        self.register_buffer("scratch", torch.arange(2), persistent=False)
        self.register_buffer("mask", torch.zeros(2))

    def forward(self, x):
        self.last = self.layer(x)  # no parameter: an op made it
        return self.last


def test_states(tmp_path):
    net, other = Net(), Net()
    net(torch.ones(1, 2))
    assert [name for name, _ in net.named_parameters()] == ["layer.weight", "layer.bias"]
    assert list(net.state_dict()) == ["layer.weight", "layer.bias", "mask", "ids"] and len(list(net.buffers())) == 2
    net.ids = net.ids + 5
    both = nn.Sequential(other, nn.ReLU())
    both.load_state_dict({f"0.{name}": value for name, value in net.state_dict().items()})
    assert other.ids.tolist() == [5, 6, 7] and list(both[:1].state_dict())[-1] == "0.ids" and len(both[:1]) == 1
    with pytest.raises(TypeError, match="ids is of int64"):
        net.save(tmp_path / "net.safetensors")
    assert isinstance(copy.deepcopy(other).ids, torch.Array)


def test_a_layer_with_a_forward_of_its_own():
    class Double(nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    layer, x = Double(2, 3), torch.ones(1, 2)
    assert np.array_equal(layer(x).numpy(), 2 * nn.Linear.forward(layer, x).numpy())


def test_schedules_act_together():
    from inkling.optim import lr_scheduler as s

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    warm, decay = s.LinearLR(optimizer, 0.5, total_iters=2), s.ExponentialLR(optimizer, 0.5)
    rates = []
    for _ in range(4):
        rates += warm.get_last_lr()
        warm.step(), decay.step()
    assert rates == pytest.approx([0.5, 0.375, 0.25, 0.125])
    optimizer.param_groups[0]["lr"] = 8.0
    decay.step()
    assert optimizer.param_groups[0]["lr"] == 4


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "x.pt"
    torch.save({"w": torch.ones(3), "ids": IDS}, path)
    whole = path.read_bytes()
    for place in range(1, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            torch.load(path)
        except torch.BadInput:
            pass
    assert pickle.loads(pickle.dumps(torch.relu)) is torch.relu


@pytest.mark.parametrize(
    "kind, text, wrong",
    [
        (TypeError, r"x.float\(\).exp", lambda: IDS.exp()),
        (TypeError, r"x.float\(\).exp", lambda: torch.exp(IDS)),
        (TypeError, "integers are required", lambda: IDS.add(0.5)),
        (ValueError, r"2\^53", lambda: torch.tensor([2**60]).unsqueeze(0)),
        (ValueError, r"x = x.transpose", lambda: torch.zeros(2, 2).transpose_(0, 1)),
        (ValueError, "lose the graph", lambda: torch.ones(2).add_(torch.ones(2, requires_grad=True))),
        (ValueError, "requires_grad", lambda: torch.tensor([1], requires_grad=True)),
        (ValueError, "expected cpu", lambda: torch.zeros(2, device="cuda")),
        (AttributeError, "precision", lambda: torch.bfloat16),
        (AttributeError, "leave it out", lambda: nn.Sequential().cuda()),
        (AttributeError, r"dir\(inkling\)", lambda: F.unfold),
        (AttributeError, "LambdaLR", lambda: torch.optim.lr_scheduler.OneCycleLR),
        (TypeError, "softmax: expected an integer as dim, got 'a'", lambda: X.softmax(dim="a")),
        (TypeError, r"softmax: there is no argument dimm: did you mean dim\?", lambda: torch.softmax(X, dimm=1)),
        (TypeError, "Linear: out_features is missing", lambda: nn.Linear(3)),
        (TypeError, "Linear: expected an integer as in_features, got 'x'", lambda: nn.Linear("x", 3)),
        (TypeError, "Linear: there is no argument device: leave it out", lambda: nn.Linear(3, 2, device="cpu")),
        (TypeError, "Linear: expected a Tensor as x, got an array of int64", lambda: nn.Linear(3, 2)(IDS)),
        (TypeError, "expected a number as p, got 'a'", lambda: nn.Dropout("a")),
        (TypeError, "reduction, got 'avg'", lambda: F.mse_loss(X, X, "avg")),
        (TypeError, "transpose: b is missing", lambda: X.transpose(0)),
        (TypeError, "concatenate: expected a list of Tensors", lambda: torch.cat([X, 3])),
        (TypeError, "relu: at most 1 argument", lambda: X.relu(3)),
        (TypeError, "requires a gradient: pass x.detach", lambda: X.leaky_relu(torch.ones(1, requires_grad=True))),
        (TypeError, "sgd: expected a number as momentum", lambda: torch.optim.SGD([W], momentum="b")),
        (TypeError, "SGD: there is no option nestrov", lambda: torch.optim.SGD([W], nestrov=True)),
        (TypeError, "True or False", lambda: X.requires_grad_("a")),
        (RuntimeError, "unfold: expected a number of at least 0, got -1", lambda: X.unfold(1, 2, -1)),
        (RuntimeError, r"write x.float\(\) \*\* -1", lambda: IDS**-1),
        (RuntimeError, "a shift for each axis", lambda: X.roll((1, 2), 0)),
        (ValueError, "no block was entered", lambda: torch.no_grad().__exit__()),
        (IndexError, "axis 5", lambda: X.select(5, 0)),
        (IndexError, "narrow", lambda: X.narrow(1, 2, 2)),
        (IndexError, "one_hot", lambda: F.one_hot(torch.tensor([-1]), 3)),
        (ValueError, "at most 2 axes", lambda: torch.zeros(1, 2, 3).t()),
        (ValueError, "not both", lambda: torch.utils.data.DataLoader([1], shuffle=True, sampler=[0])),
        (ValueError, "append", lambda: nn.Sequential().add_module("relu", nn.ReLU())),
        (ValueError, "dampening", lambda: torch.optim.SGD([X], 0.1, 0.9, 0.5)),
        (ValueError, "nonlinearity", lambda: nn.init.calculate_gain("swish")),
        (ValueError, "probabilities", lambda: torch.multinomial(torch.tensor([-1.0, 2.0]), 1)),
        (ValueError, "probabilities", lambda: F.binary_cross_entropy(X, X)),
        (ValueError, "not both", lambda: attend(X, X, X, attn_mask=np.ones((2, 2), bool), is_causal=True)),
        (ValueError, "enable_gqa", lambda: attend(*[torch.zeros(1, n, 2, 2) for n in (4, 2, 2)])),
    ],
)
def test_refusals_say_what_to_write(kind, text, wrong):
    with pytest.raises(kind, match=text):
        wrong()
