"""Functions that a graph keeps and that reach their own tensor: Python's garbage collector frees them."""

import gc
import os
import subprocess
import sys
import weakref

import inkling
import numpy as np
import pytest
from inkling import Generator, Tensor, nn


class Holder:
    pass


class Identity(inkling.Function):
    def forward(ctx, x, holder):
        ctx.holder = holder
        return x

    def backward(ctx, dy):
        return dy, None


def leaf():
    return Tensor(np.ones(3), requires_grad=True)


def hook_of_a_leaf(held):
    held.w = leaf()
    held.w.on_grad(lambda dy: held.w)


def hook_of_a_value(held):
    held.y = leaf() * 2
    held.y.on_grad(lambda dy: held.y)
    held.y.sum().backward()


def hook_that_reaches_the_loss(held):
    y = leaf() * 2
    held.loss = (y * y).sum()
    y.on_grad(lambda dy: held.loss)


def context(held):
    held.y = Identity.apply(leaf(), held)


def context_that_reaches_the_loss(held):
    y = Identity.apply(leaf(), held)
    held.loss = (y.exp() + y).sum()


def function_of_a_checkpoint(held):
    held.y = nn.checkpoint(lambda x: held and x * x, leaf())


def hook_of_a_parameter(held):
    held.layer = nn.Linear(Generator(1), 2, 2)
    held.layer.weight.on_grad(lambda dy: held.layer)


def hook_that_is_called_directly(held):
    y = leaf() * 2
    y.on_grad(y.numpy().dot)  # no cycle: freed with y
    held.y = y
    y.on_grad(held.__eq__)


CYCLES = [
    hook_of_a_leaf, hook_of_a_value, hook_that_reaches_the_loss, context, context_that_reaches_the_loss,
    function_of_a_checkpoint, hook_of_a_parameter, hook_that_is_called_directly,
]


@pytest.mark.parametrize("make", CYCLES, ids=[make.__name__ for make in CYCLES])
def test_a_cycle_is_collected(make):
    held = Holder()
    gone = weakref.ref(held)
    make(held)
    gc.collect()
    assert gone() is held
    del held
    gc.collect()
    assert gone() is None


def test_what_something_else_keeps_stays():
    held, w = Holder(), leaf()
    gone = weakref.ref(held)
    y = w * 2
    y.on_grad(lambda dy, held=held: dy * 3)
    z, context = y.exp(), Identity.apply(w, held)
    del held, y
    gc.collect()
    assert gone() is not None
    (z + context).sum().backward()  # both nodes work after the collection
    assert np.allclose(w.grad, 6 * np.exp(2) + 1)
    del z, context
    gc.collect()
    assert gone() is None


def test_collections_while_a_hook_runs():
    w = leaf()
    for x in (w, w * 2):
        x.on_grad(lambda dy: (gc.collect(), None)[1])
        (x * x).sum().backward()
    assert np.array_equal(w.grad, np.full(3, 10))


def test_nothing_is_left_at_exit():
    program = "import inkling; w = inkling.Tensor([1.0], requires_grad=True); y = w * 2; w.on_grad(lambda dy: w);"
    program += "y.on_grad(lambda dy: y); y.sum().backward();"
    keeps = "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(inkling._inkling))"  # as transformers does
    for more, told in ("", {"INKLING_LEAKS": "1"}), (keeps, {}):
        ended = subprocess.run(
            [sys.executable, "-c", program + more], capture_output=True, text=True, check=True, env={**os.environ, **told}
        )
        assert ended.stderr == ""
