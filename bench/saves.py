#!/usr/bin/env python3
"""The cost of a checkpoint: how long a save stops training.

    bench/saves.py

Trains models of several sizes on random letters with a checkpoint after every step. The cost of a save is the growth of
metrics.jsonl's elapsed_s beyond that of train_s. The last column is the fraction of a run's time with a checkpoint every
250 steps, the default."""
import os
import random
import statistics
import tempfile

import common

SIZES = [(2, 128, 64), (4, 128, 64), (6, 384, 128), (12, 768, 128)]  # layers, width, context


def main():
    inkling, steps = common.parser(__doc__).parse_args().inkling, 12
    print(f"{'model':>10} {'checkpoint':>12} {'step':>10} {'save':>10} {'of a run':>9}")
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text.txt")
        letters = random.Random(1)
        with open(text, "w") as file:
            file.write("".join(letters.choice("abcdefgh ijklmno pqrst\n") for _ in range(100_000)))
        for layers, width, context in SIZES:
            out = os.path.join(folder, "out")
            common.run([inkling, "train", "--recipe", "nanogpt-cpu", "--data", text, "--out", out, "--overwrite", "--quiet",
                        "--n-layer", layers, "--n-embd", width, "--block-size", context, "--max-iters", steps,
                        "--save-every", "1", "--eval-every", "0", "--val-fraction", "0", "--sample-every", "0",
                        "--log-every", "1"])
            lines = common.metrics(out)
            # elapsed_s of a step excludes its checkpoint: the save of step i lies between the lines i and i + 1
            pairs = list(zip(lines, lines[1:]))
            step = statistics.median(b["train_s"] - a["train_s"] for a, b in pairs)
            save = statistics.median(b["elapsed_s"] - a["elapsed_s"] - (b["train_s"] - a["train_s"]) for a, b in pairs)
            newest = os.path.join(out, "latest")
            size = sum(os.path.getsize(os.path.join(newest, name)) for name in os.listdir(newest))
            print(f"{layers:>4} x {width:<4}{size / 1e6:>9.1f} MB {step * 1e3:>7.1f} ms {save * 1e3:>7.1f} ms"
                  f" {100 * save / (save + 250 * step):>7.2f}%", flush=True)


if __name__ == "__main__":
    main()
