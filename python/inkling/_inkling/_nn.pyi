"""Layers."""

from collections.abc import Callable, Sequence
import os
from typing import Any

import numpy.typing

import inkling._inkling


class Layer:
    """
    The base of all layers. A layer holds parameters, under the names that files use.
    """

    def parameters(self) -> dict[str, inkling._inkling.Tensor]:
        """{name: tensor}"""

    def __getattr__(self, arg: str, /) -> inkling._inkling.Tensor: ...

    @property
    def dtype(self) -> str: ...

    @property
    def training(self) -> bool: ...

    def parameter_count(self) -> int: ...

    def train(self, on: bool = True) -> None:
        """Dropout is active only in training mode, the mode of a new layer."""

    def eval(self) -> None: ...

    def zero_grad(self) -> None: ...

    def freeze(self, which: Callable[[str], bool] | None = None) -> None:
        """
        Freezes the parameters for which which(name) is true, or all: they get no gradients.
        """

    def initialize(self, random: inkling._inkling.Generator, rules: Sequence[tuple[str, tuple[str, float]]]) -> None:
        """
        Overwrites each parameter by the first rule that matches its name: [('*bias', ('constant', 0)), ('*', ('normal', 0.02))].
        """

    def buffers(self) -> list[str]:
        """Names that PyTorch's module also has in its state dict."""

    def state_dict(self) -> dict[str, inkling._inkling.Tensor]:
        """
        {name: tensor} of all parameters, frozen ones included. The tensors share the memory.
        """

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """
        Copies the values of tensors or arrays; returns (missing, unexpected) names, which are an error if strict.
        """

    def save(self, path: str | os.PathLike) -> None:
        """
        Writes the state to a safetensors file, which PyTorch's module of the same name reads, too.
        """

    def load(self, path: str | os.PathLike, strict: bool = True) -> tuple[list[str], list[str]]:
        """Calls load_state_dict() with a safetensors file."""

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

class Linear(Layer):
    """y = x W^T + b, initialized like torch.nn.Linear."""

    def __init__(self, random: inkling._inkling.Generator, in_features: int, out_features: int, bias: bool = True, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """(..., in) -> (..., out)"""

    __call__ = forward

class Embedding(Layer):
    """A table of vectors, one for each id."""

    def __init__(self, random: inkling._inkling.Generator, count: int, width: int, dtype: str = 'float32') -> None: ...

    def forward(self, ids: numpy.typing.ArrayLike) -> inkling._inkling.Tensor:
        """ids (...) -> (..., width)"""

    __call__ = forward

class LayerNorm(Layer):
    """LayerNorm over the last axis."""

    def __init__(self, width: int, bias: bool = True, eps: float = 1e-05, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """(..., width) -> (..., width)"""

    __call__ = forward

class RMSNorm(Layer):
    """RMSNorm over the last axis."""

    def __init__(self, width: int, eps: float = 1e-05, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """(..., width) -> (..., width)"""

    __call__ = forward

class Dropout(Layer):
    """Dropout in training mode, with keys of `random`."""

    def __init__(self, probability: float, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, random: inkling._inkling.Generator | None = None) -> inkling._inkling.Tensor: ...

    __call__ = forward

class MLP(Layer):
    """width -> hidden -> width, with GPT-2's gelu between."""

    def __init__(self, random: inkling._inkling.Generator, width: int, hidden: int, dropout: float = 0.0, bias: bool = True, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, random: inkling._inkling.Generator | None = None) -> inkling._inkling.Tensor:
        """(..., width) -> (..., width)"""

    __call__ = forward

class LearnedPositions(Layer):
    """A learned vector for each position."""

    def __init__(self, random: inkling._inkling.Generator, length: int, width: int, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, start: int = 0) -> inkling._inkling.Tensor:
        """x (..., L, width) + the vectors of positions start .. start + L - 1"""

    __call__ = forward

def sinusoidal_positions(length: int, width: int, dtype: str = 'float32') -> inkling._inkling.Tensor:
    """
    (length, width): sin(p / 10000^(2i/width)) and cos of the same, side by side.
    """

def checkpoint(f: Callable, x: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
    """f(x), which keeps only its input and output: backward runs f again."""

def simple_self_attention(x: inkling._inkling.Tensor) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
    """softmax(x x^T) x, x (..., L, d); (output, attention weights)."""

def scaled_dot_product_attention(q: inkling._inkling.Tensor, k: inkling._inkling.Tensor, v: inkling._inkling.Tensor, causal: bool = False, mask: numpy.typing.ArrayLike | None = None, dropout: float = 0.0, dropout_key: inkling._inkling.RandomKey = ..., scale: float | None = None, alibi: Sequence[float] = [], masked: str = 'error', weights: bool = True) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
    """
    softmax(q k^T / sqrt(d)) v: q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv) and weights (B, H, Lq, Lk). With weights=False they are never built, and None is returned instead. mask broadcasts to (B, H, Lq, Lk), 0 is blocked.
    """

def split_heads(x: inkling._inkling.Tensor, heads: int) -> inkling._inkling.Tensor:
    """(B, L, H d) -> (B, H, L, d), a view."""

def merge_heads(x: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
    """(B, H, L, d) -> (B, L, H d)"""

def sequence_mask(x: inkling._inkling.Tensor, valid_lens: numpy.typing.ArrayLike, value: float = 0.0) -> inkling._inkling.Tensor:
    """
    x (B, Lq, Lk) with `value` at and beyond the valid length. valid_lens has a length per sequence (B) or per query (B, Lq).
    """

def masked_softmax(x: inkling._inkling.Tensor, valid_lens: numpy.typing.ArrayLike | None = None) -> inkling._inkling.Tensor:
    """
    softmax over the last axis of x (B, Lq, Lk), with -1e6 beyond the valid length.
    """

def padding_mask(lengths: Sequence[int], keys: int) -> numpy.typing.ArrayLike:
    """(B, 1, 1, keys): sequence b has lengths[b] real keys."""

def look_ahead_mask(queries: int, keys: int) -> numpy.typing.ArrayLike:
    """(1, 1, queries, keys): a query sees its own position and earlier ones."""

def window_mask(queries: int, keys: int, window: int) -> numpy.typing.ArrayLike:
    """
    (queries, keys): a query sees its own position and the window - 1 positions before it.
    """

def document_mask(begins: numpy.typing.ArrayLike) -> numpy.typing.ArrayLike:
    """
    (B, 1, L, L) for documents that begin at begins (B, L): a query sees its own document, up to itself.
    """

def alibi_slopes(heads: int) -> list[float]:
    """A slope for each head."""

def alibi_bias(slopes: Sequence[float], queries: int, keys: int, dtype: str = 'float32') -> inkling._inkling.Tensor:
    """(1, H, queries, keys): -slope (i - j), which is added to the scores."""

class SelfAttention(Layer):
    """One head: softmax(q k^T / sqrt(d_k)) v."""

    def __init__(self, random: inkling._inkling.Generator, d_model: int, d_k: int, d_v: int, bias: bool = True, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, mask: numpy.typing.ArrayLike | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        x (..., L, d_model) -> output (..., L, d_v), weights (..., L, L); mask broadcasts to these, 0 is blocked.
        """

    __call__ = forward

class CausalAttention(Layer):
    """One head, in which a token sees itself and earlier tokens."""

    def __init__(self, random: inkling._inkling.Generator, d_in: int, d_out: int, context_length: int, dropout: float = 0.0, qkv_bias: bool = False, mask: str = 'fill_minus_infinity', dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """x (..., L, d_in) -> output (..., L, d_out), weights (..., L, L)"""

    __call__ = forward

class MultiHeadAttention(Layer):
    """Parallel heads; an output projection mixes them."""

    def __init__(self, random: inkling._inkling.Generator, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False, dtype: str = 'float32') -> None: ...

    @staticmethod
    def packed(random: inkling._inkling.Generator, width: int, context_length: int, num_heads: int, dropout: float = 0.0, bias: bool = True, dtype: str = 'float32') -> MultiHeadAttention:
        """GPT-2's form: c_attn computes query, key and value in one product."""

    def forward(self, x: inkling._inkling.Tensor, weights: bool = True, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        Causal self-attention: x (B, L, d_in) -> output (B, L, d_out), weights (B, H, L, L)
        """

    __call__ = forward

    def cross(self, query: inkling._inkling.Tensor, key: inkling._inkling.Tensor, value: inkling._inkling.Tensor, mask: numpy.typing.ArrayLike | None = None, weights: bool = True, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        query (B, Lq, d_in), key and value (B, Lk, d_in); mask broadcasts to (B, H, Lq, Lk), 0 is blocked.
        """

class MultiHeadAttentionWrapper(Layer):
    """
    Causal heads, computed one after the other; their outputs are concatenated.
    """

    def __init__(self, random: inkling._inkling.Generator, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False, final_linear: bool = False, dtype: str = 'float32') -> None: ...

    def forward(self, x: inkling._inkling.Tensor, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        x (B, L, d_in) -> output (B, L, num_heads d_out), weights (B, num_heads, L, L)
        """

    __call__ = forward

class DotScore(Layer):
    """Q^T K; widths must be equal."""

    def __init__(self, dtype: str = 'float32') -> None: ...

    def forward(self, Q: inkling._inkling.Tensor, K: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)"""

    __call__ = forward

class ScaledDotScore(Layer):
    """Q^T K / sqrt(d)"""

    def __init__(self, dtype: str = 'float32') -> None: ...

    def forward(self, Q: inkling._inkling.Tensor, K: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)"""

    __call__ = forward

class BilinearScore(Layer):
    """Q^T W K, W (dq, dk)."""

    def __init__(self, random: inkling._inkling.Generator, dq: int, dk: int, dtype: str = 'float32') -> None: ...

    def forward(self, Q: inkling._inkling.Tensor, K: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)"""

    __call__ = forward

class ConcatScore(Layer):
    """w^T [Q; K], w (dq + dk)."""

    def __init__(self, random: inkling._inkling.Generator, dq: int, dk: int, dtype: str = 'float32') -> None: ...

    def forward(self, Q: inkling._inkling.Tensor, K: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)"""

    __call__ = forward

class AdditiveScore(Layer):
    """w_v^T tanh(W_q Q + W_k K)"""

    def __init__(self, random: inkling._inkling.Generator, dq: int, dk: int, num_hiddens: int, dtype: str = 'float32') -> None: ...

    def forward(self, Q: inkling._inkling.Tensor, K: inkling._inkling.Tensor) -> inkling._inkling.Tensor:
        """Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)"""

    __call__ = forward

class Attention(Layer):
    """One head with any scoring function."""

    def __init__(self, score: Layer, dropout: float = 0.0) -> None: ...

    def forward(self, queries: inkling._inkling.Tensor, keys: inkling._inkling.Tensor, values: inkling._inkling.Tensor, valid_lens: numpy.typing.ArrayLike | None = None, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        queries (B, Lq, dq), keys (B, Lk, dk), values (B, Lk, dv) -> output (B, Lq, dv), weights (B, Lq, Lk)
        """

    __call__ = forward

class AdditiveAttention(Layer):
    """Attention with the additive score."""

    def __init__(self, random: inkling._inkling.Generator, key_size: int, query_size: int, num_hiddens: int, dropout: float = 0.0, dtype: str = 'float32') -> None: ...

    def forward(self, queries: inkling._inkling.Tensor, keys: inkling._inkling.Tensor, values: inkling._inkling.Tensor, valid_lens: numpy.typing.ArrayLike | None = None, random: inkling._inkling.Generator | None = None) -> tuple[inkling._inkling.Tensor, inkling._inkling.Tensor | None]:
        """
        queries (B, Lq, dq), keys (B, Lk, dk), values (B, Lk, dv) -> output (B, Lq, dv), weights (B, Lq, Lk)
        """

    __call__ = forward
