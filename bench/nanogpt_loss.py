#!/usr/bin/env python3
"""A model's loss as nanoGPT measures it, in nats per token: the mean of 200 batches of 64 windows of the model's context
at random places of the last tenth of a text. `inkling eval` and the losses of a run are those of that whole part.

    build/python-venv/bin/python bench/nanogpt_loss.py RUN tinyshakespeare.txt
"""

import sys
from pathlib import Path

import inkling
import numpy as np


def main():
    model = inkling.Model.from_pretrained(sys.argv[1])
    ids = model.tokenizer.encode(Path(sys.argv[2]).read_text(encoding="utf8"))
    part = np.array(ids[int(0.9 * len(ids)):], np.int32)
    random, context = np.random.default_rng(0), model.config["block_size"]
    losses = []
    with inkling.no_grad():
        for _ in range(200):
            starts = random.integers(len(part) - context, size=64)
            windows = np.stack([part[s:s + context + 1] for s in starts])
            losses.append(model.loss(windows).item())
    print(f"{np.mean(losses):.4f} in windows of {context}")


main()
