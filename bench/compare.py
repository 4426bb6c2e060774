#!/usr/bin/env python3
"""Times whole training steps of Inkling and of PyTorch in turn, and prints the table of bench/README.md.

    bench/compare.py --torch-python /path/to/venv/bin/python            # needs PyTorch there: pip install torch
    bench/compare.py --presets tiny --rounds 5 --seconds 4
    bench/compare.py --presets small --block-size 2048 --batch 1        # another context, another batch

Machines are noisy: compare only figures of one run. Each round runs every candidate once, so that all meet the same
noise; the figure of a candidate is the median over the rounds of its median step.
"""

import statistics
import sys

import common

MODES = ["eager-fp32", "compile-fp32", "eager-bf16", "compile-bf16"]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--torch-python", default=sys.executable, help="a python that has torch")
    parser.add_argument("--presets", default="micro,tiny,small,gpt2")
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6, help="a candidate and round")
    parser.add_argument("--block-size", type=int, help="context, instead of the presets'")
    parser.add_argument("--batch", type=int, help="sequences per step, instead of the presets'")
    args = parser.parse_args()
    flags = ["--threads", str(args.threads), "--seconds", str(args.seconds)]
    for flag, value in (("--block-size", args.block_size), ("--batch", args.batch)):
        flags += [flag, str(value)] if value else []
    print("| preset | Inkling | ms per step | MB | PyTorch's best mode | ms per step | times faster |")
    print("|---|---|---|---|---|---|---|")
    for preset in args.presets.split(","):
        times, memory = {}, {}
        for _ in range(args.rounds):
            for precision in args.precisions.split(","):
                r = common.last_json([args.inkling, "bench", "--preset", preset, "--precision", precision, "--json", *flags])
                times.setdefault(precision, []).append(r["ms_step"])
                memory[precision] = r["peak_rss_mb"]
            for mode in args.modes.split(","):
                r = common.last_json([args.torch_python, common.HERE / "torch_gpt.py", "--preset", preset, "--mode", mode,
                               *flags])
                times.setdefault(mode, []).append(r["ms_step"])
        ms = {name: statistics.median(values) for name, values in times.items()}
        best = min((mode for mode in args.modes.split(",")), key=ms.get)
        for precision in args.precisions.split(","):
            print(f"| {preset} | {precision} | {ms[precision]:.3f} | {memory[precision]} | {best} | {ms[best]:.3f} | "
                  f"{ms[best] / ms[precision]:.2f} |", flush=True)
        print(f"<!-- {preset}: " + ", ".join(f"{name} {value:.3f}" for name, value in ms.items()) + " -->", flush=True)


if __name__ == "__main__":
    main()
