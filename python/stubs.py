"""Writes the stubs of the module, for type checkers and editors: python stubs.py FOLDER, which holds inkling/_inkling.*.so.
They go to FOLDER/inkling/_inkling/."""

import re
import sys
from pathlib import Path

from nanobind.stubgen import main

folder = sys.argv[1]
sys.path.insert(0, folder)
for module, name in {"": "__init__", "._nn": "_nn", "._optim": "_optim"}.items():
    stub = Path(folder, "inkling/_inkling", name + ".pyi")
    main(["-q", "-m", "inkling._inkling" + module, "-o", str(stub)])
    # A function that is also a method takes its tensor by position.
    text = re.sub(r"(?m)^(def \w+\()self\b,? ?", r"\1x: Tensor, /, ", stub.read_text()).replace(", /, )", ", /)")
    stub.write_text(text)
