"""Fine-tuning SmolLM2-135M's shape (random weights), Inkling against PyTorch, transformers and PEFT, in turn:

    python bench/adapters.py [--full] [--rounds 3]        (torch, transformers, peft)

Batch 2, context 256, adapters of rank 16 for all linear layers, bfloat16 products; --full: all weights instead. Prints each
round's training speeds in tokens per second, the ratio of their medians, and Inkling's report of its memory.
"""
import argparse
import pathlib
import re
import statistics
import sys
import tempfile
import time

import common

parser = common.parser(__doc__)
parser.add_argument("--full", action="store_true")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--base-precision", default="bf16")
parser.add_argument("--torch", help=argparse.SUPPRESS)  # the folder, in a separate process
args = parser.parse_args()
batch, context = 2, 256


def in_torch(folder):
    import peft
    import torch
    import transformers
    torch.set_num_threads(2)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    if not args.full:
        model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, weight_decay=0)
    seconds = []
    for _ in range(args.steps):
        ids = torch.randint(20, (batch, context))
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return batch * context / statistics.median(seconds[2:])


def in_inkling(folder, text, out):
    adapters = [] if args.full else ["--lora-rank", "16", "--base-precision", args.base_precision]
    run = common.run([args.inkling, "train", "--data", text, "--out", out, "--overwrite", "--init-from", folder, "--recipe",
                      "nanogpt-cpu", "--precision", "bf16", "--batch-size", batch, "--max-iters", args.steps,
                      "--warmup-iters", "0", "--val-fraction", "0", "--log-every", "1", "--learning-rate", "1e-3",
                      "--threads", "2", *adapters])
    times = [line["train_s"] for line in common.metrics(out)]
    seconds = [b - a for a, b in zip(times, times[1:])]
    said = re.search(r"in [a-z0-9_]+; (.*) of weights, gradients and moments", run.stderr)
    return batch * context / statistics.median(seconds[1:]), said and said[1]


def make(folder):
    import transformers
    tiny = common.ROOT / "tests/reference/llama_tiny"
    config = transformers.LlamaConfig(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
                                      num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=context,
                                      tie_word_embeddings=True, bos_token_id=None, eos_token_id=None)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (pathlib.Path(folder) / name).write_text((tiny / name).read_text())


if args.torch:
    print(in_torch(args.torch))
    sys.exit()
with tempfile.TemporaryDirectory() as scratch:
    in_other = [sys.executable, __file__, "--steps", args.steps] + (["--full"] if args.full else [])
    folder = scratch + "/model"
    make(folder)
    text = pathlib.Path(scratch) / "text.txt"
    text.write_text("hello world, that is a wet tale\n" * 200)
    speeds = {"inkling": [], "pytorch": []}
    for _ in range(args.rounds):
        speed, memory = in_inkling(folder, str(text), scratch + "/run")
        speeds["inkling"].append(speed)
        speeds["pytorch"].append(float(common.run([*in_other, "--torch", folder]).stdout.split()[-1]))
        print({name: round(values[-1], 1) for name, values in speeds.items()}, flush=True)
    ratio = statistics.median(speeds["inkling"]) / statistics.median(speeds["pytorch"])
    print(f"{ratio:.2f} times as fast" + (f"; {memory} of weights, gradients and moments" if memory else ""))
