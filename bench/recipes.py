#!/usr/bin/env python3
"""Trains with several seeds and prints medians: last validation loss, seconds in training steps, steps, and when each
target was first met at an evaluation.

    bench/recipes.py --data tinyshakespeare.txt --seeds 5 --targets 1.898,1.60,1.50 -- --max-time 60
    bench/recipes.py --seeds 5 -- --max-time 60              the built-in stories

What follows -- goes to `inkling train`. Runs are one after the other; the machine should have nothing else to do.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--program", default=str(pathlib.Path(__file__).parent.parent / "build" / "inkling"))
parser.add_argument("--data", action="append", default=[])
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--targets", default="", help="validation losses, with commas")
parser.add_argument("--stories", type=int, default=0, help="also have each model write this many stories, checked")
parser.add_argument("flags", nargs=argparse.REMAINDER)
args = parser.parse_args()
flags = args.flags[1:] if args.flags[:1] == ["--"] else args.flags
targets = [float(t) for t in args.targets.split(",") if t]


def run(seed):
    with tempfile.TemporaryDirectory() as out:
        command = [args.program, "train", "--out", out, "--overwrite", "--seed", str(seed), "--sample-every", "0"]
        for path in args.data:
            command += ["--data", path]
        subprocess.run(command + flags, check=True, stderr=subprocess.DEVNULL)
        lines = [json.loads(line) for line in open(pathlib.Path(out) / "metrics.jsonl")]
        evaluations = [line for line in lines if "val_loss" in line]
        result = {"seed": seed, "val_loss": evaluations[-1]["val_loss"], "steps": lines[-1]["step"],
                  "train_s": lines[-1]["train_s"], "elapsed_s": lines[-1]["elapsed_s"]}
        for target in targets:
            met = [line["train_s"] for line in evaluations if line["val_loss"] <= target]
            result[f"s_to_{target:g}"] = met[0] if met else None
        if args.stories:
            command = [args.program, "eval", "--model", out, "--stories", str(args.stories), "--json"]
            result.update(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        return result


results = []
for s in range(1, args.seeds + 1):
    results.append(run(s))
    print(json.dumps(results[-1]), flush=True)
summary = {"medians of": len(results)}
for key in results[0]:
    values = [r[key] for r in results if r[key] is not None]
    if key != "seed" and values:
        summary[key] = round(statistics.median(values), 4)
losses = [r["val_loss"] for r in results]
summary["val_loss_range"] = [round(min(losses), 4), round(max(losses), 4)]
print(json.dumps(summary))
