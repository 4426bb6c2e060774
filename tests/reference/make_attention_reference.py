"""Makes attention/: the attention family in PyTorch, in float64, with the gradients of all inputs and parameters.

    python tests/reference/make_attention_reference.py        (torch, safetensors)

attention/NAME.safetensors is the state dict of a module; attention/numbers.safetensors holds, for every case, what
went in and what came out:
    CASE.x, CASE.mask, ...     inputs                         CASE.output, CASE.weights    results
    CASE.dy, CASE.dw           cotangents of the two results  CASE.grad.NAME               gradient of NAME
All inputs and parameters are numbers that float32 holds exactly. Masks: 1 where a query may look, 0 where it may not.
"""
import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(11)
folder = pathlib.Path(__file__).with_name("attention")
numbers = {}


def normal(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double()


# ---- the modules


def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def lower(queries, keys):
    """(queries, keys): 1 up to the diagonal that ends in the last corner."""
    return torch.ones(queries, keys).tril(keys - queries)


class SimpleSelfAttention(nn.Module):
    def forward(self, x):
        return attend(x @ x.mT, x)


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v, bias):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_k, bias=bias)
        self.W_key = nn.Linear(d_model, d_k, bias=bias)
        self.W_value = nn.Linear(d_model, d_v, bias=bias)

    def forward(self, x, mask=None):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        return attend(q @ k.mT / math.sqrt(k.shape[-1]), v, mask)


class CausalAttention(SelfAttention):
    def __init__(self, d_in, d_out, bias, renormalize=False):
        super().__init__(d_in, d_out, d_out, bias)
        self.renormalize = renormalize

    def forward(self, x):
        L = x.shape[-2]
        if not self.renormalize:
            return super().forward(x, lower(L, L))
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        weights = torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1) * lower(L, L)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights @ v, weights


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, num_heads, bias, final_linear):
        super().__init__()
        self.heads = nn.ModuleList([CausalAttention(d_in, d_out, bias) for _ in range(num_heads)])
        self.out_proj = nn.Linear(num_heads * d_out, num_heads * d_out) if final_linear else nn.Identity()

    def forward(self, x):
        outputs, weights = zip(*[head(x) for head in self.heads])
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, bias):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=bias)
        self.W_key = nn.Linear(d_in, d_out, bias=bias)
        self.W_value = nn.Linear(d_in, d_out, bias=bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key, value, mask = query, query, lower(query.shape[1], query.shape[1])
        q, k, v = self.split(self.W_query(query)), self.split(self.W_key(key)), self.split(self.W_value(value))
        y, weights = attend(q @ k.mT / math.sqrt(k.shape[-1]), v, mask)
        return self.out_proj(y.transpose(1, 2).flatten(2)), weights


class PackedAttention(nn.Module):
    """GPT-2's."""

    def __init__(self, width, num_heads, bias):
        super().__init__()
        self.num_heads = num_heads
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in self.c_attn(x).chunk(3, dim=-1))
        y, weights = attend(q @ k.mT / math.sqrt(k.shape[-1]), v, lower(x.shape[1], x.shape[1]))
        return self.c_proj(y.transpose(1, 2).flatten(2)), weights


class DotScore(nn.Module):
    def forward(self, Q, K):
        return Q @ K.mT


class ScaledDotScore(nn.Module):
    def forward(self, Q, K):
        return Q @ K.mT / math.sqrt(Q.shape[-1])


class BilinearScore(nn.Module):
    def __init__(self, dq, dk):
        super().__init__()
        self.W = nn.Parameter(torch.empty(dq, dk))

    def forward(self, Q, K):
        return Q @ self.W @ K.mT


class ConcatScore(nn.Module):
    def __init__(self, dq, dk):
        super().__init__()
        self.w = nn.Parameter(torch.empty(dq + dk))

    def forward(self, Q, K):
        pairs = torch.cat([Q[:, :, None].expand(-1, -1, K.shape[1], -1), K[:, None].expand(-1, Q.shape[1], -1, -1)], -1)
        return pairs @ self.w


class AdditiveScore(nn.Module):
    def __init__(self, dq, dk, num_hiddens):
        super().__init__()
        self.W_k = nn.Linear(dk, num_hiddens, bias=False)
        self.W_q = nn.Linear(dq, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, Q, K):
        return self.w_v(torch.tanh(self.W_q(Q)[:, :, None] + self.W_k(K)[:, None])).squeeze(-1)


def sequence_mask(x, valid_lens, value):
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    return torch.where(torch.arange(x.shape[-1]) < valid_lens[:, :, None], x, value)


def masked_softmax(x, valid_lens=None):
    return torch.softmax(x if valid_lens is None else sequence_mask(x, valid_lens, torch.tensor(-1e6)), dim=-1)


class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, Q, K, V, valid_lens=None):
        weights = masked_softmax(self.score(Q, K), valid_lens)
        return weights @ V, weights


class AdditiveAttention(AdditiveScore):
    def forward(self, queries, keys, values, valid_lens=None):
        weights = masked_softmax(super().forward(queries, keys), valid_lens)
        return weights @ values, weights


class LearnedPositions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(length, width))
        self.start = 0

    def forward(self, x):
        return x + self.weight[self.start:self.start + x.shape[-2]]


def rotary(x, base, interleaved, clockwise, start):
    d = x.shape[-1]
    angles = torch.arange(start, start + x.shape[-2])[:, None] * base ** (-torch.arange(0, d, 2) / d)
    turn = torch.polar(torch.ones_like(angles), -angles if clockwise else angles)  # complex numbers of length 1
    if interleaved:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (d // 2, 2))) * turn).flatten(-2)
    turned = torch.complex(x[..., :d // 2], x[..., d // 2:]) * turn
    return torch.cat([turned.real, turned.imag], dim=-1)


def sinusoidal_positions(length, width):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# ---- the cases


def case(name, f, inputs, save=True, both=True):
    """Runs f(**inputs); `both`: the loss also depends on the attention weights."""
    parameters = {}
    if isinstance(f, nn.Module):
        parameters = dict(f.named_parameters())
        if save and parameters:
            for p in parameters.values():
                p.data = normal(*p.shape, scale=0.5)
            save_file({k: v.contiguous() for k, v in f.state_dict().items()}, folder / f"{name}.safetensors")
        f.zero_grad()
    for x in inputs.values():
        if x.dtype == torch.float64:
            x.requires_grad_()
            x.grad = None
    result = f(**inputs)
    output, weights = result if isinstance(result, tuple) else (result, None)
    stored = dict(inputs) | {"output": output, "dy": normal(*output.shape)}
    loss = (output * stored["dy"]).sum()
    if weights is not None:
        stored["weights"] = weights
        if both:
            stored["dw"] = normal(*weights.shape)
            loss = loss + (weights * stored["dw"]).sum()
    loss.backward()
    stored |= {"grad." + k: v.grad for k, v in (inputs | parameters).items() if v.grad is not None}
    numbers.update({f"{name}.{k}": v.detach().clone().contiguous() for k, v in stored.items()})


def mask_of(*shape):
    mask = (torch.rand(*shape) < 0.6).to(torch.uint8)
    mask[..., 0] = 1  # no row is blocked everywhere
    return mask


def single_heads():
    case("simple", SimpleSelfAttention(), {"x": normal(6, 3)})
    case("simple_batch", SimpleSelfAttention(), {"x": normal(2, 5, 4)})
    case("self", SelfAttention(3, 4, 4, False), {"x": normal(6, 3)})
    biased = SelfAttention(5, 3, 4, True)
    case("self_biased", biased, {"x": normal(2, 5, 5)})
    case("self_masked", biased, {"x": normal(2, 5, 5), "mask": mask_of(2, 5, 5)}, save=False)
    for bias in (False, True):
        causal = CausalAttention(4, 3, bias)
        name = "causal_biased" if bias else "causal"
        x = normal(2, 6, 4)
        case(name, causal, {"x": x})
        causal.renormalize = True
        case(name + "_renormalize", causal, {"x": x}, save=False)
    case("wrapper", MultiHeadAttentionWrapper(4, 3, 2, False, False), {"x": normal(2, 5, 4)})
    case("wrapper_final", MultiHeadAttentionWrapper(3, 2, 3, True, True), {"x": normal(2, 4, 3)})


def multi_heads():
    for name, d_in, d_out, heads, bias in [("multi", 5, 6, 3, False), ("multi_biased", 6, 8, 2, True)]:
        attention = MultiHeadAttention(d_in, d_out, heads, bias)
        case(name, attention, {"query": normal(2, 5, d_in)}, both=False)
        cross = lambda: {"query": normal(2, 3, d_in), "key": normal(2, 5, d_in), "value": normal(2, 5, d_in)}
        padding = (torch.arange(5) < torch.tensor([[5], [2]])).to(torch.uint8)[:, None, None]
        masks = {"cross": None, "padding": padding, "look_ahead": lower(3, 5).to(torch.uint8)[None, None],
                 "plain": mask_of(3, 5), "each": mask_of(2, heads, 3, 5)}
        for kind, mask in masks.items():
            case(f"{name}_{kind}", attention, cross() | ({} if mask is None else {"mask": mask}), save=False,
                 both=False)
    for name, bias in [("packed", True), ("packed_unbiased", False)]:
        case(name, PackedAttention(8, 2, bias), {"x": normal(2, 5, 8)}, both=False)


def slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    return torch.tensor(first + [2 ** (-4 * i / power) for i in range(1, 2 * power + 1)][0::2][:heads - power])


def scaled_dot_product():
    def inputs(B, H, Lq, Lk, d, dv):
        return {"q": normal(B, H, Lq, d), "k": normal(B, H, Lk, d), "v": normal(B, H, Lk, dv)}

    def sdpa(causal=False, scale=None, alibi=None):
        def f(q, k, v, mask=None):
            Lq, Lk = q.shape[-2], k.shape[-2]
            bias = torch.zeros(q.shape[0], q.shape[1], Lq, Lk)
            if alibi is not None:
                distance = torch.arange(Lk - Lq, Lk)[:, None] - torch.arange(Lk)
                bias = bias - alibi[:, None, None] * distance
            if mask is not None:
                bias = bias.masked_fill(mask == 0, -torch.inf)
            if causal:
                bias = bias.masked_fill(lower(Lq, Lk) == 0, -torch.inf)
            weights = F.scaled_dot_product_attention(q, k, torch.eye(Lk).expand(*k.shape[:2], Lk, Lk), bias, scale=scale)
            return F.scaled_dot_product_attention(q, k, v, bias, scale=scale), weights
        return f

    shape = (2, 3, 4, 5, 6, 4)
    case("sdpa", sdpa(), inputs(*shape), both=False)
    case("sdpa_scale", sdpa(scale=0.3), inputs(*shape), both=False)
    case("sdpa_causal", sdpa(causal=True), inputs(2, 2, 6, 6, 4, 4), both=False)
    case("sdpa_causal_later", sdpa(causal=True), inputs(*shape), both=False)  # the queries are the last of the keys
    for name, mask in {"padding": mask_of(2, 1, 1, 5), "plain": mask_of(4, 5), "each": mask_of(2, 3, 4, 5)}.items():
        case("sdpa_" + name, sdpa(), inputs(*shape) | {"mask": mask}, both=False)
    case("sdpa_causal_mask", sdpa(causal=True), inputs(*shape) | {"mask": mask_of(2, 1, 4, 5)}, both=False)
    for heads in (4, 6):
        case(f"alibi_{heads}", sdpa(causal=True, alibi=slopes(heads)), inputs(1, heads, 5, 5, 4, 3), both=False)
        case(f"alibi_{heads}_open", sdpa(alibi=slopes(heads)), inputs(1, heads, 3, 5, 4, 3), both=False)
        numbers[f"alibi_{heads}.slopes"] = slopes(heads)


def scores():
    valid = {"": None, "_lens": torch.tensor([2, 5]), "_each": torch.tensor([[1, 5, 3], [4, 0, 2]])}
    kinds = {"dot": (DotScore(), 4, 4), "scaled_dot": (ScaledDotScore(), 4, 4), "bilinear": (BilinearScore(3, 4), 3, 4),
             "concat": (ConcatScore(3, 4), 3, 4), "additive": (AdditiveScore(3, 4, 6), 3, 4)}
    for name, (score, dq, dk) in kinds.items():
        attention = Attention(score)
        for i, (kind, lens) in enumerate(valid.items()):
            inputs = {"Q": normal(2, 3, dq), "K": normal(2, 5, dk), "V": normal(2, 5, 2)}
            case(name + kind, attention, inputs | ({} if lens is None else {"valid_lens": lens}), save=i == 0)
        case(name + "_score", score, {"Q": normal(2, 3, dq), "K": normal(2, 5, dk)}, save=False)
    attention = AdditiveAttention(3, 4, 6)
    for i, (kind, lens) in enumerate(valid.items()):
        inputs = {"queries": normal(2, 3, 3), "keys": normal(2, 5, 4), "values": normal(2, 5, 2)}
        case("additive_attention" + kind, attention, inputs | ({} if lens is None else {"valid_lens": lens}),
             save=i == 0)
        case("masked_softmax" + kind, masked_softmax,
             {"x": normal(2, 3, 5, scale=2)} | ({} if lens is None else {"valid_lens": lens}))
        if lens is not None:
            case("sequence_mask" + kind, lambda x, valid_lens: sequence_mask(x, valid_lens, torch.tensor(-2.5)),
                 {"x": normal(2, 3, 5), "valid_lens": lens})


def positions():
    for interleaved in (False, True):
        for clockwise in (False, True):
            name = f"rotary_{'interleaved' if interleaved else 'halves'}_{'clockwise' if clockwise else 'counter'}"
            case(name, lambda x: rotary(x, 10000, interleaved, clockwise, 0), {"x": normal(2, 2, 5, 6)})
            case(name + "_later", lambda x: rotary(x, 500, interleaved, clockwise, 7), {"x": normal(3, 4)})
    learned = LearnedPositions(7, 4)
    case("learned", learned, {"x": normal(2, 5, 4)})
    learned.start = 2
    case("learned_later", learned, {"x": normal(2, 5, 4)}, save=False)
    numbers["sinusoidal.output"] = sinusoidal_positions(50, 10)


folder.mkdir(exist_ok=True)
single_heads()
multi_heads()
scaled_dot_product()
scores()
positions()
save_file(numbers, folder / "numbers.safetensors", metadata={"torch": torch.__version__})
files = sorted(folder.glob("*.safetensors"))
print(len(files), "files,", sum(f.stat().st_size for f in files), "bytes")
