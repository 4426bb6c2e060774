"""Arrays with gradients, layers, and small language models that are trained on a CPU.

import inkling
w = inkling.Tensor(numpy_array, requires_grad=True)     # shares the array's memory
loss = inkling.cross_entropy(inkling.linear(x, w), [2])
loss.backward()
inkling.optim.SGD([w], lr=0.1).step()

run = inkling.train("my.txt", max_time=60, out="runs/mine")
print(*run.model.generate("The "), sep="")
"""

import os

# Waiting threads spin only briefly, as in the program; OpenMP reads this when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

from . import _inkling

_inkling._explain_refusals()  # before anything holds its functions
from ._inkling import *  # noqa: F403: every op, Tensor, Model, ...
from . import torch_arrays, torch_creation, torch_methods, torch_names
from .torch_methods import *  # noqa: F403
from .torch_arrays import Array, device
from .torch_creation import *  # noqa: F403
from . import autograd, distributions, nn, optim, utils
from .autograd import grad
from ._tensors import Function, from_dlpack, from_numpy
from ._training import TrainResult, train
from .saving import load, save

Tensor = _inkling.Tensor
globals().update({**torch_arrays.DTYPES, **torch_names.FUNCTIONS, **torch_names.CONSTANTS})
for _name in torch_names.OPS.keys() | {_name for _name in dir(_inkling) if _name[0] != "_" and hasattr(Tensor, _name)}:
    globals()[_name] = torch_names.function(_name, torch_names.OPS.get(_name) or getattr(_inkling, _name))
__getattr__ = torch_methods.absent_module
if "OMP_NUM_THREADS" not in os.environ:
    _inkling.set_threads()

__version__ = _inkling.__version__
__all__ = [name for name in dir(_inkling) if not name.startswith("_")] + [
    "Array", *torch_creation.__all__, *torch_methods.__all__, *torch_names.FUNCTIONS, *torch_names.OPS, "Function",
    "TrainResult", "from_dlpack", "from_numpy", "grad", "load", "save", "train",
]
