"""The stubs for type checkers, which the build writes."""

from pathlib import Path

import inkling
import pytest


@pytest.mark.parametrize(
    "name, declared",
    [
        ("__init__", "def softmax(x: Tensor, /, axis: int = -1) -> Tensor:"), ("_nn", "class Linear(Layer):"),
        ("_optim", "class Schedule:"),
    ],
)
def test_stubs(name, declared):
    stub = Path(inkling.__file__).with_name("_inkling") / (name + ".pyi")
    assert declared in stub.read_text()
    compile(stub.read_text(), stub, "exec")
