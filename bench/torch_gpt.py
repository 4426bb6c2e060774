"""The peer: the same GPT-2 style model and whole training steps in PyTorch, written as its documentation recommends.

    python bench/torch_gpt.py --preset tiny --mode eager-fp32
prints one JSON line with the median time of a step: sampling, forward, backward, clipping, AdamW. The preset smollm2 is
transformers' LlamaForCausalLM, and needs transformers, too.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional as F

PRESETS = {  # layers, heads, width, context, batch, vocabulary: as in `inkling bench`
    "micro": (1, 4, 16, 16, 1, 27),
    "tiny": (4, 4, 128, 64, 12, 65),
    "small": (6, 6, 384, 256, 8, 65),
    "gpt2": (12, 12, 768, 256, 4, 50257),
    "smollm2": (30, 9, 576, 256, 2, 49152),
}
MODES = ["eager-fp32", "compile-fp32", "eager-bf16", "compile-bf16"]


class Block(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.mlp_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(heads, width) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class SmolLM2(nn.Module):  # transformers' own class, with its own loss
    def __init__(self, layers, heads, width, context, vocabulary):
        from transformers import LlamaConfig, LlamaForCausalLM
        super().__init__()
        self.model = LlamaForCausalLM(LlamaConfig(
            vocab_size=vocabulary, hidden_size=width, intermediate_size=1536, num_hidden_layers=layers,
            num_attention_heads=heads, num_key_value_heads=3, max_position_embeddings=context, tie_word_embeddings=True,
            use_cache=False))

    def forward(self, ids, targets):
        return self.model(input_ids=ids, labels=ids).loss  # the model shifts the labels itself


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", choices=PRESETS, default="tiny")
    parser.add_argument("--mode", choices=MODES, default="eager-fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--block-size", type=int, help="context, instead of the preset's")
    parser.add_argument("--batch", type=int, help="sequences per step, instead of the preset's")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    layers, heads, width, T, B, vocabulary = PRESETS[args.preset]
    T, B = args.block_size or T, args.batch or B
    model = (SmolLM2 if args.preset == "smollm2" else GPT)(layers, heads, width, T, vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    run = torch.compile(model) if args.mode.startswith("compile") else model
    tokens = torch.randint(0, vocabulary, (200_000,))
    times = []
    while len(times) < 8 or sum(times[3:]) < args.seconds:
        start = time.perf_counter()
        at = torch.randint(len(tokens) - T, (B,))
        windows = torch.stack([tokens[i : i + T + 1] for i in at])
        with torch.autocast("cpu", torch.bfloat16, enabled=args.mode.endswith("bf16")):
            loss = run(windows[:, :-1], windows[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    times = sorted(times[3:])  # the first steps compile and allocate
    print(json.dumps({"peer": "torch " + torch.__version__, "preset": args.preset, "mode": args.mode,
                      "ms_step": times[len(times) // 2] * 1e3, "best_ms": times[0] * 1e3}))


if __name__ == "__main__":
    main()
