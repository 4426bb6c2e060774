"""Ops written in Python, and arrays shared with other libraries."""

import inkling
import numpy as np
import pytest
from inkling import Tensor


class Snake(inkling.Function):
    def forward(ctx, x, a):
        ctx.save_for_backward(x)
        ctx.a = a
        return x + np.sin(a * x) ** 2 / a

    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * (1 + np.sin(2 * ctx.a * x)), None


class Outer(inkling.Function):
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return np.outer(x, y)

    def backward(ctx, dy):
        return dy @ ctx.y, ctx.x @ dy


rng = np.random.default_rng(2)
X, Y = rng.normal(size=3), rng.normal(size=4)


def test_an_op_of_ones_own():
    assert inkling.gradcheck(lambda x: Snake.apply(x, 2.0), [Tensor(X)]) < 1e-8
    assert inkling.gradcheck(Outer.apply, [Tensor(X), Tensor(Y)]) < 1e-8
    assert inkling.gradcheck(lambda x: Outer.apply(x * 2, x).tanh(), [Tensor(X)]) < 1e-8
    x = Tensor(X, dtype="float32", requires_grad=True)
    y = Snake.apply(x, 2.0)
    assert y.dtype == "float32" and "Snake" in repr(y) and "Snake" in inkling.to_dot(y)
    assert np.allclose(y.numpy(), X + np.sin(2 * X) ** 2 / 2, atol=1e-6)
    with inkling.no_grad():
        assert not Snake.apply(x, 2.0).requires_grad
    out = Outer.apply(x, Tensor(Y, dtype="float32"))  # y wants no gradient
    out.sum().backward()
    assert np.allclose(x.grad, Y.sum())


def test_wrong_gradients_are_found():
    class Wrong(Snake):
        def backward(ctx, dy):
            return 2 * dy, None

    assert inkling.gradcheck(lambda x: Wrong.apply(x, 2.0), [Tensor(X)]) > 0.1
    x = Tensor(X, requires_grad=True)

    class Short(Snake):
        def backward(ctx, dy):
            return dy

    with pytest.raises(TypeError, match="Short: backward must return a gradient, or None, for each of forward's 2"):
        Short.apply(x, 2.0).sum().backward()

    class Shaped(Snake):
        def backward(ctx, dy):
            return dy[:2], None

    with pytest.raises(inkling.Error, match=r"Shaped: backward returned a gradient of shape \(2,\) for .* \(3,\)"):
        Shaped.apply(x, 2.0).sum().backward()

    class Raises(Snake):
        def backward(ctx, dy):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Raises.apply(x, 2.0).sum().backward()
    with pytest.raises(TypeError, match="at least one tensor"):
        Snake.apply(X, 2.0)
    y = Snake.apply(x, 2.0)
    x.data[0] = 1
    with pytest.raises(inkling.Error, match="Snake"):  # its input has changed
        y.sum().backward()
    with pytest.raises(ValueError, match="read-only"):

        class InPlace(inkling.Function):
            def forward(ctx, x):
                x += 1
                return x

        InPlace.apply(x)


def test_from_numpy_shares_or_refuses():
    a = np.zeros((2, 3), np.float32)
    x = inkling.from_numpy(a[:, ::2])
    a[1, 2] = 5
    assert x[1, 1].item() == 5
    frozen = np.ones(2)
    frozen.flags.writeable = False
    ids = np.arange(3)
    assert np.shares_memory(inkling.from_numpy(ids), ids)
    for wrong in (np.ones(2, np.float16), frozen, np.ones(3)[::-1], [1.0]):
        with pytest.raises(TypeError, match="ids and masks"):
            inkling.from_numpy(wrong)


def test_dlpack():
    a = np.arange(6.0).reshape(2, 3)
    x = inkling.from_dlpack(a)
    back = np.from_dlpack(x)
    assert np.shares_memory(back, a) and np.shares_memory(x.numpy(), a)

    class Other:  # a tensor of a library that NumPy does not know
        def __dlpack__(self, **how):
            return a.__dlpack__(**how)

        def __dlpack_device__(self):
            return a.__dlpack_device__()

    assert np.shares_memory(inkling.from_dlpack(Other()).numpy(), a)
    with pytest.raises(TypeError, match="detach"):
        np.from_dlpack(Tensor(a, requires_grad=True))


def test_pytorchs_tensors():
    torch = pytest.importorskip("torch")
    t = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    x = inkling.from_dlpack(t)
    t[0, 0] = 7
    assert x[0, 0].item() == 7
    back = torch.from_dlpack(x)
    back[1, 2] = -1
    assert x[1, 2].item() == -1 and t[1, 2] == -1
    ids, mask = torch.tensor([1, 0]), torch.tensor([[True, False, True]])
    assert np.array_equal(inkling.embedding(ids, x).numpy(), x.numpy()[[1, 0]])
    assert np.array_equal(x[ids].numpy(), x.numpy()[[1, 0]])
    assert np.array_equal(inkling.where(mask, x, 0.0).numpy(), np.where(mask, t, 0))
    assert Tensor(t.half()).dtype == "float32" and Tensor(t.double()).dtype == "float64"
