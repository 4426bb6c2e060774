#!/usr/bin/env python3
"""How fast the recipes learn: the tables of bench/recipes.md. Losses are of the whole validation part; seconds are those
of training steps, with evaluations and the trial that fits a recipe not counted, and in brackets those of the command.

    bench/recipes.py runs --data tinyshakespeare.txt --seeds 3 -- --max-time 60       any flags of inkling train
    bench/recipes.py runs --seeds 3 --stories 200 -- --max-time 60                    the built-in stories
    bench/recipes.py ladder --data tinyshakespeare.txt --seeds 5                      one setting after the other
    bench/recipes.py race --data tinyshakespeare.txt --python ~/torch/bin/python      to 1.898, against PyTorch
    bench/recipes.py equal --data other.txt --seconds 60                              against nanoGPT's recipe, equal time

Runs are one after the other; the machine should have nothing else to do.
"""
import json
import re
import statistics
import sys
import tempfile

import common

# 250 steps of 768 characters: seconds each, and as many as nanoGPT's CPU recipe sees in its first eighth.
SMALL = "--max-iters 250 --n-layer 4 --n-head 4 --n-embd 128 --block-size 64 --batch-size 12"
GPT2 = "--arch gpt2 --optimizer adamw --embedding-lr 0 --head-lr 0"
LADDER = {
    "the recipe": "",
    "`--recipe nanogpt-cpu --max-iters 250`": None,
    **{f"`--arch gpt2 --optimizer adamw --learning-rate {lr}`": f"{GPT2} --learning-rate {lr}"
       for lr in ("0.003", "0.006", "0.012")},
    **{f"`--optimizer adamw --learning-rate {lr}`": f"--optimizer adamw --learning-rate {lr}"
       for lr in ("0.003", "0.006", "0.012")},
    **{f"`{flags}`": flags for flags in (
        "--arch gpt2", "--muon-scale original", "--no-muon-split-heads", "--ns-steps 3", "--ns-steps 4", "--ns-steps 7",
        "--momentum 0.8", "--momentum 0.95", "--no-nesterov", "--learning-rate 0.01", "--learning-rate 0.04",
        "--embedding-lr 0.003", "--embedding-lr 0.03", "--head-lr 0.002", "--head-lr 0.012", "--schedule cosine", "--schedule wsd",
        "--warmup-iters 20", "--weight-decay 0", "--beta2 0.95", "--beta2 0.999", "--ema 0", "--grad-clip 0",
        "--precision fp32", "--n-head 2", "--block-size 128 --batch-size 6", "--batch-size 24 --max-iters 125",
        "--batch-size 6 --max-iters 500")},
}


def train(args, flags, seed, out):
    command = [args.inkling, "train", "--out", out, "--overwrite", "--seed", str(seed), "--sample-every", "0"]
    for path in args.data:
        command += ["--data", path]
    common.run(command + flags)
    return common.metrics(out)


def run(args, flags, seed):
    with tempfile.TemporaryDirectory() as out:
        clock_s, lines = common.timed(lambda: train(args, flags, seed, out))
        losses = [line["val_loss"] for line in lines if "val_loss" in line]
        result = {"seed": seed, "loss": losses[-1], "steps": lines[-1]["step"], "train_s": lines[-1]["train_s"],
                  "clock_s": clock_s}
        if getattr(args, "stories", 0):
            checked = common.last_json([args.inkling, "eval", "--model", out, "--stories", args.stories, "--json"])
            result["accepted"] = checked["accepted"]
            result["above_entropy"] = checked["nats_per_char"] / checked["entropy_nats_per_char"] - 1
        print(json.dumps(result), file=sys.stderr, flush=True)
        return result


def row(args, name, flags):
    """One line of a table: mean and deviation over the seeds, medians of the rest."""
    results = [run(args, flags, seed) for seed in range(1, args.seeds + 1)]
    losses = [r["loss"] for r in results]
    median = {key: statistics.median(r[key] for r in results) for key in results[0]}
    deviation = f" ± {statistics.stdev(losses):.4f}" if len(losses) > 1 else ""
    more = f" | {median['accepted']:g} | {100 * median['above_entropy']:.1f}% |" if "accepted" in median else " |"
    print(f"| {name} | {statistics.mean(losses):.4f}{deviation} | {median['loss']:.4f} | {median['steps']:.0f} | "
          f"{median['train_s']:.1f} ({median['clock_s']:.1f}){more}", flush=True)
    return median


def header(args, first):
    more = " accepted | above entropy |" if getattr(args, "stories", 0) else ""
    print(f"{args.seeds} seeds\n\n| {first} | validation loss | median | steps | seconds |{more}")
    print("|---|---|---|---|---|" + (2 * "---|" if more else ""), flush=True)


def runs(args):
    header(args, "flags")
    row(args, " ".join(args.flags), args.flags)


def ladder(args):
    header(args, "250 steps of 768 tokens")
    for name, flags in LADDER.items():
        if args.only and not any(word in name for word in args.only):
            continue
        if flags is None:
            row(args, name, "--recipe nanogpt-cpu --max-iters 250 --eval-every 0".split())
        else:
            settings = dict(re.findall(r"(--\S+) ?([^-]\S*|)", f"{SMALL} --eval-every 0 {flags}"))  # the last holds
            row(args, name, " ".join(f"{flag} {value}" for flag, value in settings.items()).split())


def race(args):
    """Seconds to nanoGPT's loss: the least --max-time after which the median is below it, against PyTorch's steps."""
    torch_s = None
    if args.python:
        ms = {}
        for mode in ("eager-fp32", "eager-bf16", "compile-fp32", "compile-bf16"):
            command = [args.python, common.HERE / "torch_gpt.py", "--preset", "tiny", "--mode", mode, "--seconds", "4"]
            ms[mode] = common.last_json(command)["ms_step"]
        best = min(ms, key=ms.get)
        torch_s = 2000 * ms[best] / 1000
        print(f"PyTorch: {ms[best]:.1f} ms per step ({best}), {torch_s:.1f} s for nanoGPT's 2,000 steps; all modes: " +
              ", ".join(f"{mode} {value:.1f}" for mode, value in ms.items()), flush=True)
    header(args, "flags")
    for seconds in args.times:
        median = row(args, f"`--max-time {seconds:g}`", ["--max-time", str(seconds), "--eval-every", "0"])
        if median["loss"] < args.target:
            times = f", {torch_s / median['train_s']:.1f} times less than PyTorch" if torch_s else ""
            print(f"\n{args.target:g} in {median['train_s']:.2f} s{times}")
            return
    print(f"\n{args.target:g} was not met")


def equal(args):
    """The recipe against nanoGPT's, which gets as many steps, in bf16, as fit into the same time."""
    nanogpt = ["--recipe", "nanogpt-cpu", "--precision", "bf16", "--eval-every", "0"]
    with tempfile.TemporaryDirectory() as out:
        last = train(args, nanogpt + ["--max-time", str(args.seconds / 10), "--max-iters", "1000000"], 1, out)[-1]
    steps = int(args.seconds / last["train_s"] * last["step"])
    header(args, "flags")
    row(args, f"`--max-time {args.seconds:g}`", ["--max-time", str(args.seconds), "--eval-every", "0"])
    row(args, f"`--recipe nanogpt-cpu --precision bf16 --max-iters {steps}`", nanogpt + ["--max-iters", str(steps)])


def main():
    parser = common.parser(__doc__)
    commands = parser.add_subparsers(required=True)
    for command in (runs, ladder, race, equal):
        sub = commands.add_parser(command.__name__)
        sub.set_defaults(command=command)
        sub.add_argument("--data", action="append", default=[])
        sub.add_argument("--seeds", type=int, default=5 if command is ladder else 3)
        if command is runs:
            sub.add_argument("--stories", type=int, default=0, help="each model then writes this many, checked")
        if command is ladder:
            sub.add_argument("--only", action="append", default=[], help="rungs with this in their name; repeatable")
        if command is race:
            sub.add_argument("--python", help="a python that has torch")
            sub.add_argument("--target", type=float, default=1.898, help="nanoGPT's own, after 2,000 steps")
            sub.add_argument("--times", type=float, nargs="+", default=[2, 2.25, 2.5, 2.75, 3, 3.5, 4, 5, 6, 8])
        if command is equal:
            sub.add_argument("--seconds", type=float, default=60)
    args = common.parse_with_flags(parser)
    args.command(args)


if __name__ == "__main__":
    main()
