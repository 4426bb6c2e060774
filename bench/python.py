#!/usr/bin/env python3
"""The cost of Python: a call of an op on small tensors, against the same call in C++, and a training step with a callback,
against the command, in turn.

    build/python-venv/bin/python bench/python.py       with a python that has inkling
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import common
import inkling

CODE = r"""
#include <chrono>
#include <cstdio>
#include "engine/ops.h"
#include "engine/process/threads.h"
using namespace inkling;
template <class F> double ns(const F& f) {
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 5000; ++i) f();
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count() / 5000);
    }
    return best;
}
int main() {
    set_threads(physical_cores());
    const auto a = Tensor<float>::ones({2, 2}), w = Tensor<float>::ones({2, 2}, true);
    std::printf("{\"add\": %g, \"mul\": %g, \"tanh\": %g, \"matmul\": %g, \"add with a gradient\": %g, \"softmax\": %g}",
                ns([&] { return a + a; }), ns([&] { return a * 2.0; }), ns([&] { return tanh(a); }),
                ns([&] { return matmul(a, a); }), ns([&] { return w + a; }), ns([&] { return softmax(a, -1); }));
}
"""


def best_ns(f):
    best = 1e9
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(5000):
            f()
        best = min(best, (time.perf_counter() - start) / 5000 * 1e9)
    return best


def calls(build):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "calls.cpp", Path(folder) / "calls"
        source.write_text(CODE)
        libraries = ["-lfmt", "-lpcre2-8", "-lutf8proc", "-lz", "-lzstd", "-lnettle", "-ltomlplusplus"]
        flags = ["-std=c++20", "-O3", "-march=native", "-fopenmp"]
        common.run(["g++", *flags, f"-I{common.ROOT}", source, build / "libinkling.a", *libraries, "-o", program])
        cpp = common.last_json([program])
    a, w = inkling.Tensor.ones((2, 2)), inkling.Tensor.ones((2, 2), requires_grad=True)
    python = {
        "add": lambda: a + a,
        "mul": lambda: a * 2.0,
        "tanh": lambda: inkling.tanh(a),
        "matmul": lambda: a @ a,
        "add with a gradient": lambda: w + a,
        "softmax": lambda: a.softmax(-1),
    }
    for name, f in python.items():
        ns = best_ns(f)
        print(f"{name:20} C++ {cpp[name]:6.0f} ns, Python {ns:6.0f} ns, {ns - cpp[name]:6.0f} ns more")


def steps(build, rounds=7, size=400):
    """Median time of a step, the command and Python in turn."""
    flags = {"recipe": "nanogpt-cpu", "max_iters": size, "eval_every": 0, "seed": 1, "quiet": True, "overwrite": True}
    python = f"import inkling; inkling.train(out='p', callback=lambda m: None, **{flags!r})"
    given = [p for k, v in flags.items() for p in ["--" + k.replace("_", "-"), *([] if v is True else [str(v)])]]
    commands = {
        "command": [build / "inkling", "train", "--out", "p", *given],
        "Python": [sys.executable, "-c", python],
    }
    times = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, command in commands.items():
                common.run(command, cwd=folder)
                lines = common.metrics(Path(folder) / "p")
                first, last = lines[len(lines) // 10], lines[-1]
                times[name].append((last["elapsed_s"] - first["elapsed_s"]) / (last["step"] - first["step"]))
    ms = {name: 1e3 * statistics.median(all) for name, all in times.items()}
    ratio = statistics.median(p / c for p, c in zip(times["Python"], times["command"]))
    print(f"a step of nanoGPT's CPU model: {', '.join(f'{k} {v:.3f} ms' for k, v in ms.items())}; ratio {ratio:.4f}")


if __name__ == "__main__":
    built = Path(common.parser(__doc__).parse_args().inkling).resolve().parent
    calls(built)
    steps(built)
