#!/usr/bin/env python3
"""Load and abuse of `inkling serve`, on this machine alone: nothing may be lost, crash, or stay in memory.

    tests/load/abuse.py build/inkling [--seconds 60] [--bodies 10000] [--clients 64]

First --clients clients for so long, a quarter of them slow readers, a quarter hanging up in the middle: each text that is
read to its end must be the right one. Then requests that are cut, mutated bodies and heads, deep JSON, huge numbers, paths
with .., a gigabyte that is announced or sent in chunks, headers that drip, broken chunks with a request behind them, more
connections than are served: each refusal is an error as OpenAI's, and the server answers afterwards as before, in the memory
of before (5% more at most). It ends within 5 seconds of a signal, whatever clients do. At last a training with --serve is
sent the same, and ends with the weights of an undisturbed one.

Under sanitizers, which keep what is freed, --any-memory. The thread sanitizer does not know how OpenMP waits, so one
thread computes: OMP_THREAD_LIMIT=1 tests/load/abuse.py build-tsan/inkling --any-memory --seconds 20 --bodies 1000
"""
import argparse
import json
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
from served import STORIES, Served, free_port

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", nargs="?", default="build/inkling")
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--bodies", type=int, default=10000)
parser.add_argument("--clients", type=int, default=64)
parser.add_argument("--any-memory", action="store_true")
args = parser.parse_args()
failures, counts = [], {}


def count(what):
    counts[what] = counts.get(what, 0) + 1


def fail(what):
    failures.append(what)
    print("abuse:", what, file=sys.stderr)


def connect():
    s = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    return s


def request(body, path="/v1/completions", method="POST", headers=""):
    if isinstance(body, str):
        body = body.encode()
    return (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
            f"{headers}\r\n").encode() + body


def exchange(data):
    """The whole answer; b"" where the server closes without one."""
    answer = b""
    with connect() as s:
        try:
            s.sendall(data)
        except OSError:
            pass  # it may refuse before all is sent
        try:
            while part := s.recv(65536):
                answer += part
        except OSError:
            pass
    return answer


def check_answer(answer, what):
    """A status of 200, or an error with its parts."""
    if not answer.startswith(b"HTTP/1.1 "):
        return fail(f"{what}: no answer: {answer[:100]!r}")
    status = int(answer[9:12])
    count(status)
    if status == 200:
        return None
    try:  # the first of several
        head, body = answer.split(b"\r\n\r\n", 1)
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        error = json.loads(body[:length])["error"]
        if status >= 500 or not error["message"] or set(error) != {"message", "type", "param", "code"}:
            fail(f"{what}: {answer!r}")
    except (ValueError, KeyError, IndexError):
        fail(f"{what}: {answer[-300:]!r}")
    return status


def text_of(answer, stream):
    head, body = answer.split(b"\r\n\r\n", 1)
    if not stream:
        return json.loads(body)["choices"][0]["text"]
    text = b""
    while body:
        size, rest = body.split(b"\r\n", 1)
        text, body = text + rest[:int(size, 16)], rest[int(size, 16) + 2:]
    events = text.decode().split("\n\n")
    if events[-2] != "data: [DONE]":
        raise ValueError("the stream has no end")
    return "".join(json.loads(e[6:])["choices"][0]["text"] for e in events[:-2])


def ask(seed, stream, tokens=60):
    return request(json.dumps({"prompt": "One day ", "seed": seed, "max_tokens": tokens, "stream": stream}))


def client(number, until, right):
    rng = random.Random(number)
    while time.time() < until:
        seed, stream = rng.randrange(8), rng.random() < 0.5
        try:
            if number % 4 == 1:  # hangs up
                with connect() as s:
                    s.sendall(ask(seed, True, 2000))
                    s.recv(rng.randrange(1, 2000))
                count("hung up")
            elif number % 4 == 3:  # reads slowly
                with connect() as s:
                    s.sendall(ask(seed, stream))
                    answer = b""
                    while part := s.recv(400):
                        answer += part
                        time.sleep(0.005)
                if text_of(answer, stream) != right[seed]:
                    fail("a slow reader got another text")
                count("slow")
            else:
                if text_of(exchange(ask(seed, stream)), stream) != right[seed]:
                    fail("a client got another text")
                count("quick")
        except (OSError, ValueError, KeyError) as e:
            fail(f"client {number}: {e!r}")


def load(seconds, right):
    until = time.time() + seconds
    threads = [threading.Thread(target=client, args=(i, until, right)) for i in range(args.clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def mutated(rng, text):
    data = bytearray(text)
    for _ in range(rng.randrange(1, 8)):
        kind, at = rng.randrange(5), rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice([b"{", b"[", b'"', b"null", b"1e999", b"-1", b"9" * 40, b"\\u0000", b"\xff", b",", b":"])
        elif kind == 2:
            del data[at:at + rng.randrange(1, 10)]
        elif kind == 3:
            data[at:at] = data[:rng.randrange(20)]
        else:
            data = data[:at] or bytearray(b"x")
    return bytes(data)


SEEDS = [{"prompt": "a", "max_tokens": 2}, {"prompt": ["a", "b"], "n": 2, "max_tokens": 1, "echo": True, "logprobs": 3},
         {"prompt": [1, 2, 3], "temperature": 0.5, "top_p": 0.9, "stop": ["x", "y"], "max_tokens": 3, "seed": 4},
         {"prompt": [[1], [2]], "logit_bias": {"5": -100}, "presence_penalty": 1, "stream": True, "max_tokens": 2},
         {"messages": [{"role": "user", "content": "a"}], "max_tokens": 2}, {"content": "abc"}, {"tokens": [1, 2]}]
PATHS = ["/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize"]


def bodies(n):
    def some(number):
        rng = random.Random(number)
        for _ in range(n // 8):
            text = json.dumps(rng.choice(SEEDS)).encode()
            body = mutated(rng, text)
            check_answer(exchange(request(body, rng.choice(PATHS))), f"body {body[:200]!r}")
            if rng.random() < 0.2:
                head = mutated(rng, request(text, rng.choice(PATHS)))
                if b"\r\n\r\n" in head:  # else the server waits for more
                    answer = exchange(head + b" " * 100000)
                    if answer:
                        check_answer(answer, f"head {head[:200]!r}")

    threads = [threading.Thread(target=some, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def oddities():
    for what, body in {"deep lists": '{"prompt":' + "[" * 400000, "deep objects": '{"a":' * 100000, "a list": "[1]",
                       "huge number": '{"max_tokens":1e308}', "huge seed": '{"seed":' + "9" * 1000 + "}",
                       "huge exponent": '{"temperature":1e99999}', "NUL": '{"prompt":"a\0"}',
                       "half a pair": '{"prompt":"\\ud800"}', "long prompt": json.dumps({"prompt": "a" * 900000}),
                       "many ids": json.dumps({"prompt": [1] * 200000}), "many prompts": json.dumps({"prompt": ["a"] * 100000}),
                       "many keys": json.dumps({str(i): i for i in range(50000)})}.items():
        if check_answer(exchange(request(body)), what) is None:
            fail(f"{what}: accepted")
    for path in ("/../../etc/passwd", "/runs/../../etc/passwd", "/runs/%2e%2e/%2e%2e/etc/passwd", "/v1/models/../../x",
                 "//etc/passwd", "/%00", "/\u00e9", "/" + "a" * 5000, "/?" + "a=b&" * 250):
        answer = exchange(request("", path, "GET"))
        if check_answer(answer, path) is None and path.startswith("/?") is False:
            fail(f"{path}: {answer[:200]!r}")
        if b"root:" in answer:
            fail(f"{path}: a file of this machine")
    start = time.time()
    for what, data in {"a gigabyte, announced": b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n" + b"a" * 300000,
                       "a gigabyte, in chunks": b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                                                + (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 40}.items():
        if check_answer(exchange(data), what) != 413:
            fail(f"{what}: another status than 413")
    if time.time() - start > 10:
        fail("a gigabyte is not refused early")
    with connect() as s:  # drips
        s.settimeout(5)
        try:
            for c in b"GET /health HTTP/1.1\r\n" + b"A: b\r\n" * 1000:
                s.sendall(bytes([c]))
                time.sleep(0.01)
        except OSError:
            pass
        try:
            if check_answer(s.recv(65536), "headers that drip") != 408:
                fail("headers that drip are not refused")
        except ConnectionError:
            pass
    behind = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for chunk in (b"26zz\r\n", b"3\nabc\n0\n\n", b"3\r\nabc", b"-1\r\n", b"0x3\r\nabc\r\n0\r\n\r\n", b"f" * 20 + b"\r\n"):
        answer = exchange(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + behind)
        if check_answer(answer, f"chunk {chunk}") is None or b"owned_by" in answer:
            fail(f"chunk {chunk}: what follows is answered")
    crowd, refused = [connect() for _ in range(300)], 0  # more than are served
    for _ in range(100):
        try:
            refused += exchange(behind).startswith(b"HTTP/1.1 503 ")
        except OSError as e:
            fail(f"a connection beyond the limit: {e!r}")
    if refused < 100:
        fail(f"only {refused} of 100 connections beyond the limit are refused")
    for s in crowd:
        s.close()
    whole = ask(1, False)
    for at in range(1, len(whole), 3):  # cut
        with connect() as s:
            s.sendall(whole[:at])
        count("cut")


def hold(port):
    """Clients that hold a server up: one whose body never comes, one that never reads, one that sends nothing."""
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    held[0].sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
    held[1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1000)
    held[1].sendall(request('{"prompt": "a", "stream": true, "max_tokens": 4000, "logprobs": 20, "logit_bias": {"0": -100}}'))
    time.sleep(0.5)
    return held


def train(folder, *flags):
    return subprocess.Popen([args.program, "train", "--data", __file__, "--out", folder, "--n-layer", "1", "--n-embd", "16",
                             "--n-head", "2", "--block-size", "16", "--batch-size", "2", "--threads", "1", "--eval-every", "500",
                             "--max-iters", "20000", "--quiet", *flags], stderr=subprocess.DEVNULL)


def training():
    """A run that is asked for all that clients can send ends as one that is left alone."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        runs = [train(f"{folder}/alone"), train(f"{folder}/served", "--serve", str(port))]
        rng, posts = random.Random(1), 0
        deep = b'{"prompt": ' + b"[" * 500000
        while runs[1].poll() is None:
            body = rng.choice([deep, deep[:60000], b'{"prompt": "import "}', mutated(rng, b'{"prompt": "import "}')])
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
                    s.sendall(request(body, rng.choice(["/api/sample", "/api/heads"])))
                    if rng.random() < 0.8:
                        posts += s.recv(65536).startswith(b"HTTP/1.1 ")
            except OSError:
                time.sleep(0.1)
        if runs[0].wait() != 0 or runs[1].returncode != 0:
            fail(f"training ended with {runs[0].returncode} and {runs[1].returncode}")
        alone, served = (open(f"{folder}/{name}/latest/model.safetensors", "rb").read() for name in ("alone", "served"))
        if alone != served:
            fail("a run that is asked for much has other weights")
        if posts < 20:
            fail(f"a run answered only {posts} requests")
        count(f"{posts} requests to a run that trains")


with Served(args.program, [f"stories={STORIES}"], ["--header-time", "2", "--idle-time", "20", "--queue", "1000"]) as server:
    right = {seed: text_of(exchange(ask(seed, False)), False) for seed in range(8)}
    for _ in range(2):  # what it takes once is taken in the first round
        before = server.memory()
        load(args.seconds / 2, right)
        bodies(args.bodies // 2)
        oddities()
    for _ in range(200):  # what was left is dropped at the next token
        metrics = urllib.request.urlopen(server.url + "/metrics").read().decode()
        if "inkling_texts_running 0\n" in metrics and "inkling_connections 1\n" in metrics:
            break
        time.sleep(0.1)
    else:
        fail("texts or connections stay")
    for seed in range(8):
        if text_of(exchange(ask(seed, False)), False) != right[seed]:
            fail("the server answers otherwise than before")
    after = server.memory()
    if after > 1.05 * before and not args.any_memory:
        fail(f"memory: {before} kB before, {after} kB after")
    held = hold(server.port)
    start = time.time()
    server.process.terminate()
    server.process.wait(60)
    if time.time() - start > 5.5:
        fail(f"the server ends {time.time() - start:.1f} s after a signal")
    training()
    print(f"memory: {before} kB before, {after} kB after; answers: {dict(sorted(counts.items(), key=str))}")
sys.exit(1 if failures else 0)
