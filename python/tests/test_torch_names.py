"""PyTorch's spellings: the values are NumPy's, or PyTorch's written down."""

import copy
import pickle

import inkling as torch
import inkling.nn.functional as F
import numpy as np
import pytest
from conftest import softmax
from inkling import nn

A = np.arange(6.0, dtype=np.float32).reshape(2, 3) - 2
X = torch.tensor(A)


@pytest.mark.parametrize(
    "y, expected",
    [
        (lambda: X.view(-1), A.reshape(-1)), (lambda: X.view(3, 2), A.reshape(3, 2)), (lambda: X.t(), A.T),
        (lambda: X.permute(1, 0), A.T), (lambda: X.transpose(dim0=0, dim1=1), A.T),
        (lambda: X[:1].expand(4, 3), A[[0] * 4]), (lambda: X[0].expand_as(X), A[[0] * 2]),
        (lambda: X.flatten(start_dim=0), A.ravel()), (lambda: X.flip(0, 1), A[::-1, ::-1]),
        (lambda: torch.flip(X, dims=(1,)), A[:, ::-1]), (lambda: X.tile(2, 1), np.tile(A, (2, 1))),
        (lambda: X.clamp(min=0), A.clip(0)), (lambda: X.clamp(max=1), A.clip(None, 1)),
        (lambda: torch.clamp(X, -1, 1), A.clip(-1, 1)), (lambda: X.clamp(min=torch.zeros(3)), A.clip(0)),
        (lambda: X.square(), A**2), (lambda: X.add(X, alpha=2), 3 * A), (lambda: X.sub(1).mul(2).div(4), (A - 1) / 2),
        (lambda: torch.mm(X, X.t()), A @ A.T), (lambda: X.tril(diagonal=-1), np.tril(A, -1)),
        (lambda: X.diagonal(offset=1), np.diagonal(A, 1)), (lambda: torch.outer(X[0], X[1]), np.outer(A[0], A[1])),
        (lambda: torch.cat((X, X), dim=1), np.concatenate([A, A], 1)),
        (lambda: torch.cat([torch.tensor([1]), torch.tensor([2, 3])]), np.array([1, 2, 3])),
        (lambda: torch.stack([X, X], -1), np.stack([A, A], -1)), (lambda: X.chunk(2, dim=-1)[1], A[:, 2:]),
        (lambda: X.split(2, -1)[0], A[:, :2]), (lambda: X.unbind(1)[2], A[:, 2]), (lambda: X.narrow(1, 1, 2), A[:, 1:]),
        (lambda: X.repeat_interleave(2, dim=1), A.repeat(2, 1)), (lambda: X.amax(1), A.max(1)),
        (lambda: torch.zeros(2, 3), np.zeros((2, 3))), (lambda: torch.ones((2,), dtype=torch.long), np.ones(2, int)),
        (lambda: torch.ones(2, 2, dtype=torch.bool).triu(1), np.triu(np.ones((2, 2), bool), 1)),
        (lambda: torch.full((2,), 3.0), np.full(2, 3.0)), (lambda: torch.zeros_like(X), 0 * A),
        (lambda: torch.full_like(X, 7), 0 * A + 7), (lambda: torch.arange(1, 7, 2), np.arange(1, 7, 2)),
        (lambda: torch.arange(0, 1, 0.25), np.arange(0, 1, 0.25)),
        (lambda: torch.linspace(0, 1, 5), np.linspace(0, 1, 5)), (lambda: torch.eye(2, 3), np.eye(2, 3)),
        (lambda: torch.tensor([1.5, 2]), np.array([1.5, 2])),
        (lambda: torch.from_numpy(np.array([1, 2])), np.array([1, 2])),
        (lambda: X.argmax(dim=1).float(), np.array([2.0, 2.0])), (lambda: (X > 0).float().mean(), np.array(0.5)),
        (lambda: (X > 0).sum(dim=1), np.array([0, 3])), (lambda: X.eq(0).long(), (A == 0).astype(int)),
        (lambda: X.argmax(1).unsqueeze(0), np.array([[2, 2]])), (lambda: X.to(torch.float64).to("cpu"), A),
        (lambda: X.double(), A), (lambda: torch.isnan(X), np.isnan(A)),
        (lambda: F.one_hot(torch.tensor([1, 0]), 3), np.eye(3, dtype=int)[[1, 0]]),
        (lambda: F.gelu(X), np.array([[-0.04550028, -0.15865526, 0], [0.84134471, 1.95449972, 2.99595022]])),
        (lambda: F.pad(X, (1, 0), value=5.0), np.pad(A, ((0, 0), (1, 0)), constant_values=5)),
        (lambda: F.interpolate(X.view(1, 1, 2, 3), scale_factor=2), A[None, None].repeat(2, 2).repeat(2, 3)),
        (lambda: F.softmax(X, dim=0), softmax(A, 0)), (lambda: X.unflatten(1, (1, 3)).movedim(0, 2), A.T[None]),
        (lambda: torch.addmm(X, torch.eye(2), X, beta=2), 3 * A), (lambda: X.lerp(X + 2, 0.25), A + 0.5),
        (lambda: X.diff(), np.diff(A)), (lambda: X.roll((1, 1), (0, 1)), np.roll(A, (1, 1), (0, 1))),
        (lambda: X.roll(2), np.roll(A, 2)),
        (lambda: X.index_add(1, torch.tensor([2, 0]), X[:, :2]), A + A[:, [1, 1, 0]] * [1, 0, 1]),
        (lambda: torch.meshgrid(X[0], X[:, 0])[1], np.meshgrid(A[0], A[:, 0], indexing="ij")[1]),
        (lambda: torch.vstack([X, X[0]]), np.vstack([A, A[0]])),
        (lambda: torch.logical_and(X > 0, X < 2), (A > 0) & (A < 2)), (lambda: X.new_full((2,), 3), np.full(2, 3.0)),
        (lambda: torch.tensor([1, 2]) / 2, np.array([0.5, 1])),
        (lambda: 1.5 * torch.tensor([1, 2]), np.array([1.5, 3])),
        (lambda: torch.tensor([3, 4]) % 2.5, np.array([0.5, 1.5])), (lambda: torch.tensor([3, 4]) // 2, np.array([1, 2])),
        (lambda: F.adaptive_avg_pool2d(X.view(1, 1, 2, 3), 2), np.array([[[[-1.5, -0.5], [1.5, 2.5]]]])),
        (lambda: F.layer_norm(X, (2, 3)), (A - A.mean()) / np.sqrt(A.var() + 1e-5)),
        (lambda: nn.GroupNorm(1, 2)(X[None]), ((A - A.mean()) / np.sqrt(A.var() + 1e-5))[None]),
        (lambda: nn.RMSNorm(3)(X / 1000), A / np.sqrt((A**2).mean(1, keepdims=True) + 1e6 * 2**-23)),
    ],
)
def test_values(y, expected):
    y = y()
    values = y.numpy()
    assert values.shape == expected.shape and np.allclose(values, expected, atol=1e-6)
    assert isinstance(y, torch.Tensor) == (expected.dtype.kind == "f")


def test_methods_that_ask():
    assert X.size == X.size.real == X.numel() == 6 and X.size() == (2, 3) and X.size(-1) == 3 and X.dim() == 2
    assert X.tolist() == A.tolist() and X[0, 0].item() == -2 and X.device.type == "cpu" and torch.is_tensor(X)
    ids = torch.tensor([[1, 2]])
    assert ids.size(1) == 2 and ids.view(-1).tolist() == [1, 2]
    assert ids.dtype == torch.int64 and X.dtype == torch.float32 and X.cpu().contiguous() is X.float() is X
    assert X.clone() is not X and not np.shares_memory(X.clone().numpy(), A)
    assert X.equal(X.clone()) and X.allclose(X + 1e-9) and not torch.cuda.is_available()
    assert X.requires_grad_().requires_grad
    X.requires_grad_(False)


def test_gradients_and_writing_in_place():
    w = torch.ones(2, 2, requires_grad=True)
    y = (w * w).sum()
    y.backward(retain_graph=True)
    y.backward(gradient=torch.tensor(2.0))
    assert (w.grad == 6).all() and w.grad.norm().item() == 12 and w.grad.clone().sum() == 24
    w.grad.zero_()
    assert not w.grad.any()
    w.grad = None
    assert w.grad is None
    w.grad = np.full((2, 2), 3)
    with torch.no_grad():
        w -= 0.5 * w.grad
        before = w
        w.add_(1)
    assert before is w and (w == 0.5).all() and w.requires_grad
    w.data.fill_(7)
    assert (w == 7).all() and (w.detach().zero_() == 0).all()
    for refused in (lambda: w.add_(1), lambda: (w * 2).clamp_(0, 1)):
        with pytest.raises(torch.Error, match="no_grad"):
            refused()

    @torch.no_grad()
    def detached(x):
        return x * torch.is_grad_enabled()

    assert not detached(w).requires_grad and torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0) ** 2

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return 2 * x.clamp(min=0) * dy

    x = torch.tensor([-1.0, 3.0], requires_grad=True)
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [0, 6]


def test_random_numbers_begin_again_with_a_seed():
    def some():
        layer = nn.Linear(3, 2)
        drawn = (
            torch.rand(4), torch.randn(2, 2), torch.randperm(9), torch.randint(0, 5, (7,)), F.dropout(torch.ones(50)),
        )
        return [layer.weight.numpy(), *(x.numpy() for x in drawn), nn.Dropout(0.3)(torch.ones(50)).numpy()]

    torch.manual_seed(3)
    first, then = some(), some()
    torch.manual_seed(3)
    assert all(np.array_equal(a, b) for a, b in zip(first, some()))
    assert not any(np.array_equal(a, b) for a, b in zip(first, then))
    assert sorted(first[3]) == list(range(9)) and set(first[4]) <= set(range(5)) and set(first[5]) == {0, 2}
    drawn = torch.multinomial(torch.tensor([[0.2, 0.0, 0.6]]).expand(20000, 3), 1)
    assert drawn.shape == (20000, 1) and abs((drawn == 2).mean() - 0.75) < 0.02 and not (drawn == 1).any()
    assert sorted(torch.multinomial(torch.tensor([0.1, 0.0, 5.0]), 2).tolist()) == [0, 2]
    assert torch.multinomial(torch.tensor([0.0, 1.0]), 5, replacement=True).tolist() == [1] * 5
    with pytest.raises(torch.Error, match="replacement"):
        torch.multinomial(torch.tensor([0.0, 1.0]), 2)


P, T = [0.2, 0.7, 0.9], [0.0, 1.0, 0.5]


@pytest.mark.parametrize(
    "loss, expected",  # PyTorch's
    [
        (lambda p, t: F.mse_loss(p, t), 0.09666667),
        (lambda p, t: F.l1_loss(p, t, reduction="sum"), 0.9),
        (lambda p, t: nn.L1Loss()(p, t), 0.3),
        (lambda p, t: F.huber_loss(p, t, delta=0.25), 0.04416667),
        (lambda p, t: F.smooth_l1_loss(p, t, beta=0.25), 0.17666667),
        (lambda p, t: F.binary_cross_entropy(p, t), 0.59459710),
        (lambda p, t: nn.BCELoss(weight=torch.tensor([1.0, 2.0, 0.0]))(p, t), 0.31216448),
        (lambda p, t: F.binary_cross_entropy_with_logits(p, t), 0.66415960),
        (lambda p, t: F.binary_cross_entropy_with_logits(p, t, pos_weight=torch.tensor(3.0)), 1.04666829),
        (lambda p, t: nn.BCEWithLogitsLoss(weight=torch.tensor([1.0, 2.0, 0.0]))(p, t), 0.53483701),
        (lambda p, t: F.kl_div(p, t, reduction="sum"), -1.49657359),
        (lambda p, t: F.kl_div(p, t, reduction="batchmean", log_target=True), -0.01466795),
        (lambda p, t: F.cross_entropy(p.view(1, 3), torch.tensor([2])), 0.83954626),
        (lambda p, t: F.cross_entropy(p.view(1, 3, 1).expand(1, 3, 2), torch.tensor([[2, -100]])), 0.83954626),
        (
            lambda p, t: nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]))(
                p.view(1, 3).expand(2, 3), torch.tensor([0, 2])
            ),
            1.01454628,
        ),
        (lambda p, t: F.nll_loss(p.view(1, 3), torch.tensor([1])), -0.7),
    ],
)
def test_losses(loss, expected):
    p = torch.tensor(P, requires_grad=True)
    y = loss(p, torch.tensor(T))
    assert y.item() == pytest.approx(expected, rel=2e-6)
    y.backward()
    assert np.isfinite(p.grad).all()


def windows(x, k):
    return np.lib.stride_tricks.sliding_window_view(x, (k, k), (-2, -1))


def test_convolution_and_pooling():
    x, w = np.random.default_rng(0).normal(size=(2, 3, 6, 6)), np.random.default_rng(1).normal(size=(4, 3, 3, 3))
    tx, tw = torch.tensor(x), torch.tensor(w)
    expected = np.einsum("bchwij,ocij->bohw", windows(x, 3), w)
    assert np.allclose(F.conv2d(tx, tw).numpy(), expected) and np.allclose(F.conv2d(tx[0], tw).numpy(), expected[0])
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    same = F.conv2d(tx, tw, padding="same")
    assert np.allclose(same.numpy(), np.einsum("bchwij,ocij->bohw", windows(padded, 3), w))
    assert F.conv2d(tx, tw[:, :, :2, :2], padding="same").shape == (2, 4, 6, 6)
    y, ids = F.max_pool2d(tx, 3, stride=2, padding=1, return_indices=True)
    assert np.array_equal(y.numpy(), F.max_pool2d(tx, 3, 2, 1).numpy())
    assert np.array_equal(
        np.take_along_axis(x.reshape(2, 3, 36), ids.reshape(2, 3, -1), -1).reshape(y.shape), y.numpy()
    )
    layer = nn.Conv2d(3, 4, 3, padding=1)
    assert layer.weight.shape == (4, 3, 3, 3) and layer(tx.float()).shape == (2, 4, 6, 6)
    assert np.abs(layer.weight.numpy()).max() < 27**-0.5
    assert nn.Sequential(layer, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())(tx.float()).shape == (2, 36)
    with pytest.raises(torch.Error, match=r"size=\[9, 9\]"):
        F.interpolate(tx, scale_factor=1.6)


def test_batch_norm():
    x = np.random.default_rng(0).normal(size=(5, 3, 2, 2))
    norm = nn.BatchNorm2d(3)
    tx = torch.tensor(x).float()
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    y = (x - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None]
    assert np.allclose(norm(tx).numpy(), y, atol=1e-5)
    assert np.allclose(norm.running_mean.numpy(), 0.1 * mean) and np.allclose(
        norm.running_var.numpy(), 0.9 + 0.1 * var * 20 / 19
    )
    norm.eval()
    assert np.allclose(
        norm(tx).numpy()[0, 0], (x[0, 0] - 0.1 * mean[0]) / np.sqrt(norm.running_var.numpy()[0] + 1e-5), atol=1e-5
    )
    assert list(norm.state_dict()) == ["weight", "bias", "running_mean", "running_var"]
    norm.load_state_dict({**norm.state_dict(), "num_batches_tracked": np.array(3)})


def test_batch_norm_without_a_momentum_has_the_mean_of_all():
    norm, x = nn.BatchNorm1d(2, momentum=None), np.random.default_rng(0).normal(size=(3, 5, 2))
    for batch in x:
        norm(torch.tensor(batch).float())
    assert np.allclose(norm.running_mean.numpy(), x.mean((0, 1))) and norm.state_dict()["num_batches_tracked"] == 3
    assert np.allclose(norm.running_var.numpy(), x.var(1, ddof=1).mean(0), rtol=1e-5)
    batch = nn.BatchNorm1d(2, affine=False, track_running_stats=False).eval()(torch.tensor(x[0]).float())
    assert np.allclose(batch.numpy().mean(0), 0, atol=1e-6)


def of_one_direction(layer, both, suffix):
    """A layer of one direction with the weights of one of both."""
    one = type(layer)(3, 4, batch_first=True)
    one.load_state_dict({n.removesuffix(suffix): x for n, x in both.items() if n.endswith("_l0" + suffix)})
    return one


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_layers_in_time(kind):
    x = torch.tensor(np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32))
    layer = kind(3, 4, num_layers=2, batch_first=True, bidirectional=True, dropout=0.5).eval()
    first = kind(3, 4, batch_first=True, bidirectional=True)
    first.load_state_dict({name: p for name, p in layer.state_dict().items() if "_l0" in name})
    y, last = first(x)
    forth, back = (of_one_direction(first, first.state_dict(), suffix) for suffix in ("", "_reverse"))
    expected = torch.cat([forth(x)[0], back(x.flip(1))[0].flip(1)], -1)
    assert np.allclose(y.numpy(), expected.numpy(), atol=1e-6) and layer(x)[0].shape == (2, 5, 8)
    h = last[0] if kind is nn.LSTM else last
    assert np.array_equal(h.numpy()[0], y.numpy()[:, -1, :4]) and np.array_equal(h.numpy()[1], y.numpy()[:, 0, 4:])
    if kind is not nn.RNN:
        cell, state = getattr(nn, kind.__name__ + "Cell")(3, 4), None
        cell.load_state_dict({name.removesuffix("_l0"): p for name, p in forth.state_dict().items()})
        for t in range(5):
            state = cell(x[:, t], state)
        assert np.allclose((state if kind is nn.GRU else state[0]).numpy(), forth(x)[0].numpy()[:, -1], atol=1e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_step_in_time(kind):
    layer = kind(3, 4)
    w, u, b, c = (layer.state_dict()[f"{name}_l0"].numpy() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    x, h = np.random.default_rng(0).normal(size=3), np.random.default_rng(1).normal(size=4)
    of_x, of_h = w @ x + b, u @ h + c
    sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
    tx, th = torch.tensor(x[None]).float(), torch.tensor(h[None]).float()
    if kind is nn.LSTM:
        i, f, g, o = np.split(of_x + of_h, 4)
        expected = sigmoid(o) * np.tanh(sigmoid(f) * 2 * h + sigmoid(i) * np.tanh(g))
        y, _ = layer(tx, (th, 2 * th))
    else:
        (r, z, n), (r_h, z_h, n_h) = np.split(of_x, 3), np.split(of_h, 3)
        expected = (1 - sigmoid(z + z_h)) * np.tanh(n + sigmoid(r + r_h) * n_h) + sigmoid(z + z_h) * h
        y, _ = layer(tx, th)
    assert np.allclose(y.numpy()[0], expected, atol=1e-5)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("mask", torch.zeros(2))
        self.register_buffer("work", torch.zeros(2), persistent=False)

    def forward(self, x):
        return self.body(x) * self.scale


def test_modules():
    net = Net()
    assert net.train() is net and net.eval() is net and net.body[0].eval() is net.body[0] and not net.body.training
    assert all(isinstance(p, torch.Tensor) for p in net.parameters()) and len(list(net.parameters())) == 5
    assert [name for name, _ in net.named_parameters()][-1] == "scale" and list(net.state_dict())[-1] == "mask"
    assert sum(p.numel() for p in net.body[0].parameters()) == 24 and next(net.parameters()).shape == (8, 2)

    def zero(module):
        if isinstance(module, nn.Linear):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    assert net.apply(zero) is net and (net(torch.ones(1, 2)) == 16).all()
    assert net.to("cpu").float() is net and [name for name, _ in net.named_children()] == ["body"]
    assert len(list(net.modules())) == 6
    for p in net.body.parameters():
        p.requires_grad = False
    assert not net.body(torch.ones(1, 2)).requires_grad
    optimizer = torch.optim.SGD(net.requires_grad_().parameters(), lr=0.1)
    for on in (False, True):
        for p in net.parameters():
            p.requires_grad = on
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert (net.body[3].bias == np.float32(-0.1)).all()  # the optimizer still has these parameters
    tied = nn.Linear(8, 2, bias=False)
    tied.weight = net.body[3].weight
    both = nn.ModuleDict({"a": net.body[3], "b": tied})
    assert len(list(both.parameters())) == 2 and len(both.state_dict()) == 3
    with pytest.raises(torch.Error, match="shape"):
        tied.weight = torch.zeros(3)


def test_initial_values():
    w = torch.empty(300, 200)
    for fill, std in [
        (nn.init.xavier_uniform_, (2 / 500) ** 0.5), (nn.init.xavier_normal_, (2 / 500) ** 0.5),
        (nn.init.kaiming_uniform_, (2 / 200) ** 0.5),
        (lambda w: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), (2 / 300) ** 0.5),
        (lambda w: nn.init.normal_(w, 1.0, 0.02), 0.02), (lambda w: nn.init.uniform_(w, -1, 1), 3**-0.5),
    ]:
        assert fill(w) is w and w.numpy().std() == pytest.approx(std, rel=0.02)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_an_optimizer_is_copied_with_its_state(copied):
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    net, twin = {"layer": layer, "optimizer": optimizer}, copied({"layer": layer, "optimizer": optimizer})
    assert same_state(optimizer, twin["optimizer"])
    layer(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    twin = copied(optimizer)
    assert twin.param_groups[0]["lr"] == 0.1 and same_state(optimizer, twin) and net


def same_state(a, b):
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_saving(tmp_path):
    net, path = Net(), tmp_path / "net.pt"
    torch.save({"net": net.state_dict(), "ids": torch.tensor([1]), "step": 3, "lr": np.float64(0.1)}, path)
    state = torch.load(path, map_location="cpu")
    other = Net()
    other.load_state_dict(state["net"])
    assert all((p == q).all() for p, q in zip(net.parameters(), other.parameters())) and state["step"] == 3
    torch.save(net.body, path)
    with pytest.raises(torch.BadInput, match="weights_only=False"):
        torch.load(path)
    assert (torch.load(path, weights_only=False)[0].weight == net.body[0].weight).all()
    path.write_text("text")
    with pytest.raises(torch.BadInput):
        torch.load(path)


def test_schedules():
    from inkling.optim import lr_scheduler as s

    def rates(make, steps=6):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler, found = make(optimizer), []
        for _ in range(steps):
            found += scheduler.get_last_lr()
            scheduler.step()
        return found

    assert rates(lambda o: s.StepLR(o, 2, gamma=0.5)) == [1, 1, 0.5, 0.5, 0.25, 0.25]
    assert rates(lambda o: s.MultiStepLR(o, [1, 3], gamma=0.5)) == [1, 0.5, 0.5, 0.25, 0.25, 0.25]
    assert rates(lambda o: s.ExponentialLR(o, 0.5), 3) == [1, 0.5, 0.25]
    assert rates(lambda o: s.LambdaLR(o, lambda epoch: 1 / (epoch + 1)), 3) == [1, 1 / 2, 1 / 3]
    assert rates(lambda o: s.LinearLR(o, 0.5, total_iters=2), 4) == [0.5, 0.75, 1, 1]
    assert rates(lambda o: s.CosineAnnealingLR(o, 4, eta_min=0.1), 5) == pytest.approx(
        [1, 0.86819805, 0.55, 0.23180195, 0.1]
    )


def test_batches():
    from inkling.utils.data import DataLoader, Dataset, TensorDataset, random_split

    class Squares(Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, i):
            return {"x": torch.tensor([float(i)]), "y": i * i}

    batches = list(DataLoader(Squares(), batch_size=4))
    assert [len(b["y"]) for b in batches] == [4, 4, 2] and batches[1]["x"].tolist() == [[4], [5], [6], [7]]
    assert len(DataLoader(Squares(), 4, drop_last=True)) == len(list(DataLoader(Squares(), 4, drop_last=True))) == 2
    x, y = torch.rand(10, 2), torch.arange(10)
    loader = DataLoader(TensorDataset(x, y), batch_size=5, shuffle=True)
    torch.manual_seed(1)
    first, second = [[ids.tolist() for _, ids in loader] for _ in range(2)]
    assert first != second and sorted(sum(first, [])) == list(range(10))
    for a, ids in loader:
        assert isinstance(a, torch.Tensor) and np.array_equal(a.numpy(), x.numpy()[ids])
    parts = random_split(TensorDataset(y), [0.7, 0.3])
    assert [len(part) for part in parts] == [7, 3] and sorted(int(i) for part in parts for (i,) in part) == list(
        range(10)
    )


def test_distributions():
    from inkling.distributions import Categorical, Normal

    d = Categorical(logits=torch.tensor([[0.0, 1.0, 2.0]]))
    p = softmax(np.array([0.0, 1.0, 2.0]))
    assert d.log_prob(torch.tensor([1])).item() == pytest.approx(np.log(p[1]), rel=1e-6)
    assert d.entropy().item() == pytest.approx(-(p * np.log(p)).sum(), rel=1e-6)
    assert d.sample().shape == (1,) and d.sample((5,)).shape == (5, 1)
    assert (
        Categorical(torch.tensor([0.0, 3.0])).sample().item() == 1
        and Categorical(torch.tensor([0.0, 3.0])).entropy().item() < 1e-6
    )
    n = Normal(torch.tensor([1.0]), 2.0)
    assert n.log_prob(torch.tensor([3.0])).item() == pytest.approx(-0.5 - np.log(2) - np.log(2 * np.pi) / 2)
    assert n.sample((20000,)).numpy().std() == pytest.approx(2, rel=0.03) and n.rsample().shape == (1,)


def test_clipping():
    w = torch.ones(4, requires_grad=True)
    (w * 3).sum().backward()
    assert nn.utils.clip_grad_norm_([w], 1.0).item() == 6 and np.allclose(w.grad, 0.5)


IDS = torch.tensor([0, 1])
WRONG = {
    TypeError: [
        lambda: X + X.double(), lambda: torch.cat([X, X.double()]), lambda: nn.Linear(3, 2)(X.double()),
        lambda: F.linear(X, torch.zeros(2, 3, dtype=torch.float64)), lambda: nn.Linear(3, 2)(IDS),
        lambda: nn.Embedding(3, 2)(X), lambda: F.cross_entropy(X, "text"), lambda: nn.Linear(3, 2).double(),
        lambda: torch.ones(1, requires_grad=True).double(), lambda: X.repeat(2), lambda: nn.ReLU(3, 4),
        lambda: torch.tensor("text"),
    ],
    IndexError: [
        lambda: X.sum(2), lambda: X.softmax(dim=-3), lambda: X.transpose(0, 2), lambda: X.unsqueeze(4),
        lambda: X.chunk(2, 5), lambda: torch.cat([X, X], 2), lambda: X[5], lambda: X.sum().squeeze(1),
    ],
    ValueError: [
        lambda: X.view(4, 2), lambda: X @ X, lambda: X + torch.zeros(2), lambda: torch.cat([X, X.t()]),
        lambda: X.permute(0, 0), lambda: X.expand(3, 3), lambda: F.l1_loss(X, X[0]), lambda: X.to("cuda"),
        lambda: F.conv2d(torch.zeros(1, 2, 4, 4), torch.zeros(1, 3, 3, 3)), lambda: X.clamp(),
        lambda: nn.BatchNorm2d(3)(torch.zeros(2, 4, 1, 1)), lambda: torch.optim.SGD([], lr=0.1),
    ],
    RuntimeError: [lambda: X @ X, lambda: X.view(4, 2)],  # PyTorch's, too
    AttributeError: [lambda: X.cuda(), lambda: X.no_such_name(), lambda: IDS.no_such_name()],
}


@pytest.mark.parametrize("kind, wrong", [(kind, wrong) for kind, all_wrong in WRONG.items() for wrong in all_wrong])
def test_kinds_of_errors(kind, wrong):
    with pytest.raises(kind):
        wrong()
