"""The stubs for type checkers match the module. INKLING_UPDATE_STUBS=1 writes them."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

FILES = {"inkling._inkling": "__init__.pyi", "inkling._inkling._nn": "_nn.pyi", "inkling._inkling._optim": "_optim.pyi"}


@pytest.mark.parametrize("module", FILES)
def test_stubs(module, tmp_path):
    made = tmp_path / "made.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", module, "-o", made], check=True)
    # A function that is also a method takes its tensor by position.
    text = re.sub(r"(?m)^(def \w+\()self\b,? ?", r"\1x: Tensor, /, ", made.read_text()).replace(", /, )", ", /)")
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    stub = ROOT / "python/inkling/_inkling" / FILES[module]
    if os.environ.get("INKLING_UPDATE_STUBS"):
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(text)
    assert stub.read_text() == text
    compile(text, stub, "exec")
