"""A language model of characters, made of layers and an optimizer, as characters.cpp: it learns a rhyme."""

import inkling
import numpy as np
from inkling import nn, optim

TEXT = """Peter Piper picked a peck of pickled peppers.
A peck of pickled peppers Peter Piper picked.
If Peter Piper picked a peck of pickled peppers,
Where's the peck of pickled peppers Peter Piper picked?
"""
CHARACTERS = sorted(set(TEXT))
BATCH, CONTEXT, WIDTH = 16, 64, 64
IDS = np.array([CHARACTERS.index(c) for c in TEXT])


class Block(nn.Module):  # of GPT-2
    def __init__(self, random):
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = nn.MultiHeadAttention(random, WIDTH, WIDTH, CONTEXT, dropout=0.0, num_heads=4)
        self.mlp = nn.MLP(random, WIDTH, 4 * WIDTH)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x), weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class Model(nn.Module):
    def __init__(self, random, layers=1):
        self.wte = nn.Embedding(random, len(CHARACTERS), WIDTH)
        self.wpe = nn.LearnedPositions(random, CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block(random) for _ in range(layers))
        self.ln_f = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(random, WIDTH, len(CHARACTERS))

    def forward(self, ids):  # (B, T) -> (B, T, V)
        x = self.wpe(self.wte(ids))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))


inkling.set_threads(1)  # a model as small as this one has no work for more
model = Model(inkling.Generator(1337))
optimizer = optim.AdamW(model, lr=0.004, betas=(0.9, 0.99), weight_decay=0.0)
schedule = optim.Schedule("linear", steps=500)
rng = np.random.default_rng(1337)
for step in range(500):
    places = rng.integers(len(TEXT) - CONTEXT, size=(BATCH, 1)) + np.arange(CONTEXT)
    loss = inkling.cross_entropy(model(IDS[places]), IDS[places + 1])
    optimizer.zero_grad()
    loss.backward()
    optim.clip_grad_norm(model, 1.0)
    optimizer.step(schedule(step))
    if step % 100 == 99:
        print(f"step {step + 1}  loss {loss.item():.4f}")

ids = [CHARACTERS.index(c) for c in "Peter"]
with inkling.no_grad():
    while len(ids) < CONTEXT:
        ids.append(int(model([ids])[0, -1].argmax()))
print("".join(CHARACTERS[i] for i in ids))
