"""A GPT that learns the characters of a text, in one file: model, training and text generation. gpt.cpp is the same.

    python gpt.py TEXT.txt [STEPS]

The model is GPT-2's, at a size that a laptop trains in a minute or two."""

import sys
from dataclasses import dataclass

import inkling
import numpy as np
from inkling import Tensor, nn, optim


@dataclass
class Config:
    vocabulary: int
    context: int = 64  # T, the number of characters that the model sees
    layers: int = 4
    heads: int = 4
    width: int = 128  # C


class SelfAttention(nn.Module):
    """Each position takes a weighted mean of itself and earlier positions, once for each head."""

    def __init__(self, random, config):
        self.heads = config.heads
        self.c_attn = nn.Linear(random, config.width, 3 * config.width)  # queries, keys and values
        self.c_proj = nn.Linear(random, config.width, config.width)

    def forward(self, x):  # (B, T, C) -> (B, T, C)
        q, k, v = (nn.split_heads(part, self.heads) for part in self.c_attn(x).split(3, axis=-1))  # (B, H, T, C / H)
        y = inkling.attention(q, k, v, scale=q.shape[-1] ** -0.5, causal=True)
        return self.c_proj(nn.merge_heads(y))


class MLP(nn.Module):
    def __init__(self, random, config):
        self.c_fc = nn.Linear(random, config.width, 4 * config.width)
        self.c_proj = nn.Linear(random, 4 * config.width, config.width)

    def forward(self, x):
        return self.c_proj(self.c_fc(x).gelu())


class Block(nn.Module):
    def __init__(self, random, config):
        self.ln_1, self.attn = nn.LayerNorm(config.width), SelfAttention(random, config)
        self.ln_2, self.mlp = nn.LayerNorm(config.width), MLP(random, config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, random, config):
        self.context = config.context
        self.wte = nn.Embedding(random, config.vocabulary, config.width)  # also the output head
        self.wpe = nn.LearnedPositions(random, config.context, config.width)
        self.h = nn.ModuleList(Block(random, config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width)
        # The more layers add to the residual stream, the smaller their initial weights.
        residual = 0.02 / (2 * config.layers) ** 0.5
        self.initialize(
            random,
            [
                ("*bias", ("constant", 0.0)),
                ("*ln_*", ("constant", 1.0)),
                ("*c_proj.weight", ("normal", residual)),
                ("*", ("normal", 0.02)),
            ],
        )

    def forward(self, ids):  # (B, T) -> (B, T, vocabulary)
        x = self.wpe(self.wte(ids))
        for block in self.h:
            x = block(x)
        return inkling.linear(self.ln_f(x), self.wte.weight)


@dataclass
class Training:
    steps: int = 2000
    batch: int = 12
    lr: float = 1e-3  # the peak; training ends at a tenth of it
    betas: tuple = (0.9, 0.99)
    weight_decay: float = 0.1
    clip: float = 1.0
    eval_batches: int = 20

    def warmup(self):
        return min(100, self.steps // 10)

    def eval_every(self):
        return max(1, self.steps // 8)


def get_batch(ids, size, context, random):
    """Random parts of the text, and the character after each of their characters: two (B, T)."""
    begin = (Tensor.rand((size, 1), random.next(), dtype="float64").numpy() * (len(ids) - context)).astype(int)
    at = begin + np.arange(context)
    return ids[at], ids[at + 1]


def loss_of(model, batch):
    ids, targets = batch
    return inkling.cross_entropy(model(ids), targets)


def evaluate(model, ids, training):
    """The mean loss of some batches, the same batches each time."""
    random = inkling.Generator(7)
    with inkling.no_grad():
        batches = [get_batch(ids, training.batch, model.context, random) for _ in range(training.eval_batches)]
        return float(np.mean([loss_of(model, batch).item() for batch in batches]))


def train(model, ids, training, random, report=print):
    """Trains on nine tenths of the text; the loss on the rest shows how well the model generalizes."""
    learned, held_out = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": training.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = optim.AdamW(groups, lr=training.lr, betas=training.betas)
    schedule = optim.Schedule("cosine", steps=training.steps, warmup=training.warmup(), floor=0.1)
    for step in range(training.steps):
        loss = loss_of(model, get_batch(learned, training.batch, model.context, random))
        optimizer.zero_grad()
        loss.backward()
        optim.clip_grad_norm(model, training.clip)
        optimizer.step(schedule(step))
        if (step + 1) % training.eval_every() == 0:
            report(f"step {step + 1}  loss {loss.item():.5f}  validation {evaluate(model, held_out, training):.5f}")


def write(model, ids, count, random, temperature=0.8, top_k=20):
    """Appends `count` ids, one after the other."""
    ids = list(ids)
    with inkling.no_grad():
        for _ in range(count):
            logits = model([ids[-model.context :]])[0, -1] / temperature
            values, likely = logits.topk(min(top_k, logits.size))
            chosen = Tensor.rand((), random.next()).item() < values.softmax().cumsum(0).numpy()
            ids.append(int(likely[chosen.argmax()]))
    return ids


def main(path, steps=2000):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    characters = sorted(set(text))
    ids = np.array([characters.index(c) for c in text], dtype=np.int32)
    if len(ids) < 10 * (Config.context + 2):
        sys.exit(f"gpt: expected a text of at least {10 * (Config.context + 2)} characters, got {len(ids)}")
    random = inkling.Generator(1337)
    model = GPT(random, Config(vocabulary=len(characters)))
    print(f"{model.parameter_count()} parameters, {len(ids)} characters, {len(characters)} different ones")
    train(model, ids, Training(steps=int(steps)), random)
    print("".join(characters[i] for i in write(model, ids[:1], 300, random)))


if __name__ == "__main__":
    main(*sys.argv[1:])
