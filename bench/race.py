#!/usr/bin/env python3
"""Seconds to nanoGPT's CPU loss, against PyTorch: the smallest --max-time with a median over the seeds below that loss.

    bench/race.py --data tinyshakespeare.txt --python ~/torch/bin/python

Losses cover the whole validation part; seconds are the time of training steps, without evaluations and without the trial
that fits a recipe. The machine should be otherwise idle. `inkling compare` decides between two settings.
"""
import statistics
import tempfile

import common


def median_of(args, seconds):
    """Medians over the seeds: validation loss, steps, seconds."""
    results = []
    for seed in range(1, args.seeds + 1):
        with tempfile.TemporaryDirectory() as out:
            common.run([args.inkling, "train", "--out", out, "--overwrite", "--data", args.data, "--seed", seed,
                        "--max-time", seconds, "--eval-every", "0", "--sample-every", "0"])
            last = common.metrics(out)[-1]
            results.append((last["val_loss"], last["step"], last["train_s"]))
    return [statistics.median(values) for values in zip(*results)]


def pytorch_seconds(python):
    """Seconds of nanoGPT's 2,000 steps in PyTorch's best mode."""
    ms = {}
    for mode in ("eager-fp32", "eager-bf16", "compile-fp32", "compile-bf16"):
        command = [python, common.HERE / "torch_gpt.py", "--preset", "tiny", "--mode", mode, "--seconds", "4"]
        ms[mode] = common.last_json(command)["ms_step"]
        print(f"PyTorch, {mode}: {ms[mode]:.1f} ms per step", flush=True)
    return 2 * min(ms.values())


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--target", type=float, default=1.898, help="nanoGPT's loss after 2,000 steps")
    parser.add_argument("--times", type=float, nargs="+", default=[2, 2.25, 2.5, 2.75, 3, 3.5, 4, 5, 6, 8])
    parser.add_argument("--python", help="with torch: also time PyTorch")
    args = parser.parse_args()
    torch_s = pytorch_seconds(args.python) if args.python else None
    for seconds in args.times:
        loss, steps, train_s = median_of(args, seconds)
        print(f"--max-time {seconds:g}: {loss:.4f} after {steps:.0f} steps, {train_s:.2f} s", flush=True)
        if loss < args.target:
            return print(f"{args.target:g} in {train_s:.2f} s" +
                         (f", {torch_s / train_s:.1f} times less than PyTorch's {torch_s:.1f} s" if torch_s else ""))
    print(f"{args.target:g} was not met")


if __name__ == "__main__":
    main()
