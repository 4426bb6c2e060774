"""grad() and the derivatives that are built on it."""

import inkling
import numpy as np
import pytest
from inkling import Tensor


def double(*numbers, requires_grad=False):
    return Tensor(np.array(numbers, dtype=np.float64), requires_grad=requires_grad)


def test_grad_of_grad():
    x = double(2, -3, requires_grad=True)
    (first,) = inkling.grad((x**3).sum(), x, create_graph=True)
    (second,) = inkling.grad(first.sum(), [x])
    np.testing.assert_allclose(second.numpy(), [12, -18])
    assert x.grad is None and not second.requires_grad


def test_several_outputs():
    x, w = double(1, 2, requires_grad=True), double(3, 4, requires_grad=True)
    a, b = inkling.grad([x * w, x.sum()], [x, w], grad_outputs=[double(1, 10), None])
    np.testing.assert_allclose(a.numpy(), [4, 41])
    np.testing.assert_allclose(b.numpy(), [1, 20])
    with pytest.raises(ValueError, match="as many grad_outputs as outputs"):
        inkling.grad([x, w], x, grad_outputs=[None])


def test_graph_is_released_unless_kept():
    x = double(1, 2, requires_grad=True)
    y = (x * x).sum()
    inkling.grad(y, x, retain_graph=True)
    inkling.grad(y, x)
    with pytest.raises(inkling.Error, match="released"):
        inkling.grad(y, x)


def test_functions():
    x, v = double(1, 2, 3), double(1, -1, 0.5)
    with inkling.no_grad():
        np.testing.assert_allclose(inkling.jacobian(lambda x: x * x, x).numpy(), np.diag([2, 4, 6]))
        np.testing.assert_allclose(inkling.jvp(lambda x: x * x, x, v).numpy(), [2, -4, 3])
        np.testing.assert_allclose(inkling.hessian(inkling.prod, x).numpy(), [[0, 3, 2], [3, 0, 1], [2, 1, 0]])
        np.testing.assert_allclose(inkling.hvp(inkling.prod, x, v).numpy(), [-2, 3.5, 1])
        with inkling.enable_grad():
            w = double(1, requires_grad=True)
            assert (w * w).requires_grad


@pytest.mark.parametrize("returned", [3, 2.5, None, "x", np.ones(3), [1]])
@pytest.mark.parametrize("name", ["jacobian", "hessian", "jvp", "hvp", "gradcheck", "checkpoint"])
def test_a_function_must_return_a_tensor(name, returned):
    x, v = double(1, 2, 3), double(1, -1, 0.5)
    call = {
        "jvp": lambda f: inkling.jvp(f, x, v), "hvp": lambda f: inkling.hvp(f, x, v),
        "gradcheck": lambda f: inkling.gradcheck(f, [x]), "checkpoint": lambda f: inkling.nn.checkpoint(f, x),
    }.get(name, lambda f: getattr(inkling, name)(f, x))
    with pytest.raises(TypeError, match=f"^{name}: the function must return a Tensor, got .*{type(returned).__name__}$"):
        call(lambda x: returned)


def test_an_op_of_python_is_named():
    class Square(inkling.Function):
        def forward(ctx, x):
            ctx.x = x
            return x * x

        def backward(ctx, dy):
            raise AssertionError("it is not called")

    x = double(3, requires_grad=True)
    with pytest.raises(inkling.Error, match="'Square' cannot be differentiated twice"):
        inkling.grad(Square.apply(x), x, create_graph=True)


def test_gradient_penalty():
    w, x = double(1, 2, requires_grad=True), double(3, -1, requires_grad=True)
    (slope,) = inkling.grad((w * w * x * x).sum(), x, create_graph=True)  # 2 w^2 x
    (slope * slope).sum().backward()
    np.testing.assert_allclose(w.grad, [144, 128])  # 16 w^3 x^2
