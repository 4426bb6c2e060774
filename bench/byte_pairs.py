#!/usr/bin/env python3
"""Learning 8,192 byte pairs from 11 MB of mixed text, and encoding it: Inkling, tokenizers and tiktoken in turn.

    bench/byte_pairs.py [--rounds 3] [--gpt2 FOLDER of encoder.json and vocab.bpe]

Needs a Python that has tokenizers and tiktoken. The text is this machine's own documentation, headers and modules
(/usr/share/doc, /usr/include, /usr/share/perl, Python's packages), shuffled. Fails if ids or merges differ.
"""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
import tiktoken
import tiktoken.load
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

import common

parser = common.parser(__doc__)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--gpt2", default=common.ROOT / "../shared/data/gpt2", type=pathlib.Path)
args = parser.parse_args()


def mixed_text(size):
    roots = ["/usr/share/doc", "/usr/include", "/usr/share/perl", *(p for p in sys.path if p.endswith("-packages"))]
    paths = sorted(p for root in roots for p in pathlib.Path(root).rglob("*") if p.is_file() and not p.is_symlink())
    random.Random(1).shuffle(paths)
    parts, total = [], 0
    for path in paths:
        try:
            text = path.read_bytes()[:60000].decode()
        except (UnicodeDecodeError, OSError):
            continue
        if "\0" not in text and total < size:
            parts.append(text)
            total += len(text.encode())
    return "".join(parts)


def ours(*arguments, **more):
    return subprocess.run([args.inkling, "tokenize", *arguments], check=True, capture_output=True, **more)


def learn(lines):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=8192, special_tokens=["<|endoftext|>"],
                                                             initial_alphabet=alphabet, show_progress=False))
    return tokenizer


seconds = {}


def timed(name, call):
    took, result = common.timed(call)
    seconds.setdefault(name, []).append(took)
    return result


gpt2_pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
with tempfile.TemporaryDirectory() as scratch:
    text = mixed_text(11_000_000)
    file, learnt, gpt2 = f"{scratch}/text", f"{scratch}/tokenizer.json", str(args.gpt2)
    pathlib.Path(file).write_text(text, newline="")
    size = len(text.encode()) / 1e6
    ranks = tiktoken.load.data_gym_to_mergeable_bpe_ranks(f"{gpt2}/vocab.bpe", f"{gpt2}/encoder.json")
    special = {"<|endoftext|>": 50256}
    theirs = tiktoken.Encoding("gpt2", pat_str=gpt2_pattern, mergeable_ranks=ranks, special_tokens=special)
    for _ in range(args.rounds):
        arguments = ["train", "--data", file, "--vocab-size", "8192", "--out", learnt, "--threads", "1"]
        timed("learn inkling", lambda: ours(*arguments))
        other = timed("learn tokenizers", lambda: learn([text]))
        a, b = json.loads(pathlib.Path(learnt).read_text())["model"], json.loads(other.to_str())["model"]
        assert a["vocab"] == b["vocab"] and a["merges"] == b["merges"]
        timed("start inkling", lambda: ours("encode", "--tokenizer", gpt2, "-f", "-", "--threads", "1", input=b"a"))
        encode = lambda: ours("encode", "--tokenizer", gpt2, "-f", file, "--threads", "1").stdout.split()
        ids = timed("encode inkling", encode)
        assert list(map(int, ids)) == timed("encode tiktoken", lambda: theirs.encode(text, disallowed_special=()))
        ids = ours("encode", "--tokenizer", learnt, "-f", file).stdout.split()
        assert list(map(int, ids)) == timed("encode tokenizers", lambda: other.encode(text)).ids
        back = ours("decode", "--tokenizer", learnt, "-f", "-", input=b" ".join(ids)).stdout
        assert back == text.encode()

s = {name: statistics.median(times) for name, times in seconds.items()}
print(f"{size:.1f} MB of mixed text, medians of {args.rounds} rounds, one thread each, the same merges and ids")
print(f"learning 8,192 tokens: inkling {s['learn inkling']:.2f} s, tokenizers {s['learn tokenizers']:.2f} s")
print(f"encoding: inkling {size / (s['encode inkling'] - s['start inkling']):.0f} MB/s (GPT-2's vocabulary; "
      f"printing the ids included, {s['start inkling']:.2f} s of loading not), tiktoken "
      f"{size / s['encode tiktoken']:.1f} MB/s (the same), "
      f"tokenizers {size / s['encode tokenizers']:.1f} MB/s (the learnt one)")
