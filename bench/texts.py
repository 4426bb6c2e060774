#!/usr/bin/env python3
"""Trains two programs on texts of many kinds and sizes, with their defaults and for the same time, in turn: the table of
docs/recipes.md. `inkling eval` measures bits per byte on the last tenth of each text, with the best model.

    bench/texts.py --old ~/before/inkling --inkling build/inkling --seconds 30 300 10k 1M --texts shakespeare.txt code.txt

Each size takes the first bytes of the text's middle third; sizes beyond the text's length are skipped. The machine should
be otherwise idle.
"""
import pathlib
import re
import subprocess
import tempfile

import common


def size_of(text):
    return int(float(text.rstrip("kM")) * {"k": 1e3, "M": 1e6}.get(text[-1], 1))


def cut(path, size):
    data = path.read_bytes()
    if size > 1.1 * len(data):
        return None
    begin = min(len(data) // 3, max(0, len(data) - size))
    return data[begin:begin + size].decode("utf-8", "ignore")


def run(program, folder, seconds):
    out, val = folder / "run", folder / "val.txt"
    command = [program, "train", "--data", folder / "text.txt", "--out", out, "--overwrite", "--max-time", str(seconds)]
    wall, done = common.timed(lambda: subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace"))
    if done.returncode:
        return wall, float("nan"), done.stderr.strip().splitlines()[-1]
    evaluated = common.last_json([program, "eval", "--model", out, "--data", val, "--json"])
    vocabulary = re.search(r"vocabulary (\d+)|tokens of (\d+) kinds", done.stderr)
    vocabulary = vocabulary.group(1) or vocabulary.group(2)
    tokenizer = "char" if re.search("'char'", (out / "config.toml").read_text()) else "bpe"
    return wall, evaluated["bits_per_byte"], f"{tokenizer} {vocabulary}"


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--old", required=True, help="the other program")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("sizes", nargs="+")
    parser.add_argument("--texts", nargs="+", type=pathlib.Path, required=True)
    args = parser.parse_args()
    print("| text | bytes | tokenizer | bits per byte | seconds | before | seconds |\n|---|---|---|---|---|---|---|")
    for path in args.texts:
        for size in args.sizes:
            text = cut(path, size_of(size))
            if text is None:
                continue
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "text.txt").write_text(text, encoding="utf-8")
                (folder / "val.txt").write_text(text[-max(8, len(text) // 10):], encoding="utf-8")
                new, old = (run(program, folder, args.seconds) for program in (args.inkling, args.old))
            print(f"| {path.stem} | {size} | {new[2]} | {new[1]:.3f} | {new[0]:.0f} | {old[1]:.3f} | {old[0]:.0f} |",
                  flush=True)


if __name__ == "__main__":
    main()
