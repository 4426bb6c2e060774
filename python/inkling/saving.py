"""torch.save and torch.load, in a format of their own. safetensors files are for other programs: save_tensors()."""

from __future__ import annotations

import os
import pickle
from typing import Any

from ._inkling import BadInput

_PLAIN = {
    "inkling._inkling": {"Tensor", "Generator", "RandomKey"}, "inkling.torch_arrays": {"Array", "device"},
    "numpy": {"ndarray", "dtype"}, "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"}, "collections": {"OrderedDict"},
}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _PLAIN.get(module, ()):
            raise BadInput(f"load: the file holds a {module}.{name}: weights_only=False opens files that you trust")
        return super().find_class(module, name)


def save(obj: Any, path: str | os.PathLike) -> None:
    """Writes tensors, arrays, numbers, texts, lists and dicts of them, modules or optimizers."""
    with open(path, "wb") as file:
        pickle.dump(obj, file, protocol=4)


def load(path: str | os.PathLike, map_location: Any = None, weights_only: bool = True) -> Any:
    """Reads what save() wrote. A file of modules or optimizers may run any code: weights_only=False opens it."""
    with open(path, "rb") as file:
        if file.read(1) != b"\x80":
            raise BadInput(f"load: {path} is not a file of save(): load_tensors() reads safetensors files")
        file.seek(0)
        try:
            return (pickle.Unpickler if weights_only is False else _Plain)(file).load()
        except BadInput:
            raise
        except Exception as error:  # pickle raises any
            raise BadInput(f"load: {path} is damaged: {error}") from None
