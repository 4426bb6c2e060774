#!/usr/bin/env python3
"""Throughput of inkling serve: tokens/s of one client and of many at once, in turn, with GPT-2 124M shapes and random weights.

    bench/serving.py --python /path/to/venv/bin/python      # needs numpy there, for the model folder

Each client requests a text of 128 tokens for its own prompt, and all clients of a round begin at once; the figure is the
median over the rounds. The server keeps running: rounds of one client and of many alternate.
"""

import json
import statistics
import sys
import tempfile
import threading
import urllib.request

import common

sys.path.insert(0, str(common.ROOT / "tests/peers"))
from served import Served

parser = common.parser(__doc__)
parser.add_argument("--python", default=sys.executable, help="with numpy")
parser.add_argument("--folder", help="of the model; made there if it is not there")
parser.add_argument("--clients", type=int, default=16)
parser.add_argument("--tokens", type=int, default=128)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--precision", default="bf16")
parser.add_argument("--threads", default="0")
args = parser.parse_args()


def ask(url, number, tokens):
    body = json.dumps({"prompt": f"The story number {number}", "max_tokens": tokens, "seed": number,
                       "logit_bias": {"50256": -100}}).encode()
    with urllib.request.urlopen(urllib.request.Request(url + "/v1/completions", body)) as answer:
        assert json.load(answer)["usage"]["completion_tokens"] == tokens


def tokens_per_second(url, clients):
    threads = [threading.Thread(target=ask, args=(url, i, args.tokens)) for i in range(clients)]

    def all_at_once():
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    return clients * args.tokens / common.timed(all_at_once)[0]


with tempfile.TemporaryDirectory() as scratch:
    folder = args.folder or scratch
    common.make_model(args.python, "gpt2", folder)
    flags = ["--precision", args.precision, "--parallel", str(args.clients), "--threads", args.threads]
    with Served(args.inkling, [f"gpt2={folder}"], flags) as server:
        ask(server.url, 0, 8)
        figures = {1: [], args.clients: []}
        for _ in range(args.rounds):
            for clients, found in figures.items():
                found.append(tokens_per_second(server.url, clients))
    one, many = (statistics.median(figures[n]) for n in (1, args.clients))
    print(f"{args.precision}: 1 client {one:.1f} tokens/s, {args.clients} clients {many:.1f}: {many / one:.2f} times")
