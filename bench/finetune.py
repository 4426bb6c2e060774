#!/usr/bin/env python3
"""Compares the recipe finetune with alternatives: the tables of bench/finetune.md.

    bench/finetune.py --base runs/base --texts shakespeare.txt headers.txt -- --max-time 20          any flags of inkling train
    bench/finetune.py --base runs/base --texts shakespeare.txt --try "--learning-rate 1e-4" "--learning-rate 1e-3"
    bench/finetune.py --base runs/chat --texts chats.jsonl --lora-rank 8

Each row is a set of flags, each column a text. A cell is the loss of `inkling eval` in nats per token on NAME.held.txt
(.jsonl) beside the text, which no run trains on; "as it is" is the loss of the model before training. With --answers, a
column of conversations is the fraction of right answers. Runs are one after the other; the machine should be otherwise
idle.
"""
import json
import pathlib
import sys
import tempfile

import common


def loss(args, model, held):
    command = [args.inkling, "eval", "--model", model, "--data", held, "--json"]
    if args.answers and held.suffix == ".jsonl":
        command.append("--answers")
    found = common.last_json(command)
    return found["right"] / found["answers"] if "right" in found else found["loss"]


def tune(args, text, held, flags):
    with tempfile.TemporaryDirectory() as out:
        command = [args.inkling, "train", "--init-from", args.base, "--data", text, "--out", out, "--sample-every", "0",
                   "--json", "--quiet", *flags, *args.flags]
        lines = common.json_lines(common.run(command).stdout)
        plan, end = lines[0]["settings"], lines[-1]
        result = {"text": text.name, "flags": flags, "held": loss(args, out, held), "steps": end["step"],
                  "planned": plan["max_iters"], "best_step": end["best_step"], "train_s": end["train_s"],
                  "elapsed_s": end["elapsed_s"], "row": plan["block_size"], "batch": plan["batch_size"],
                  "val": end["best_val_loss"]}
        print(json.dumps(result), file=sys.stderr, flush=True)
        return result


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--base", required=True)
    parser.add_argument("--texts", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--try", nargs="+", dest="tried", default=[""], help="sets of flags, a row each")
    parser.add_argument("--answers", action="store_true")
    args = common.parse_with_flags(parser)
    held = {text: text.with_name(f"{text.stem}.held{text.suffix}") for text in args.texts}
    print(f"| {' '.join(args.flags)} | " + " | ".join(text.stem for text in args.texts) + " | steps | seconds |")
    print("|---|" + "---|" * (len(args.texts) + 2))
    print("| as it is | " + " | ".join(f"{loss(args, args.base, held[text]):.4f}" for text in args.texts) + " | | |",
          flush=True)
    for flags in args.tried:
        results = [tune(args, text, held[text], flags.split()) for text in args.texts]
        print(f"| `{flags}` | " + " | ".join(f"{r['held']:.4f}" for r in results) + " | " +
              ", ".join(f"{r['steps']}" for r in results) + " | " + ", ".join(f"{r['train_s']:.0f}" for r in results) +
              " |", flush=True)


if __name__ == "__main__":
    main()
