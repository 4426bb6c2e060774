#!/usr/bin/env python3
"""A small job for a pretrained model: a sentence about an appointment becomes JSON. docs/finetuning.md trains on it.

    bench/appointments.py lines 300 >mine.jsonl                       the conversations to learn
    bench/appointments.py lines 100 --held >held.jsonl                others, with other people
    bench/appointments.py peft MODEL mine.jsonl OUT [--seconds 600]   the same by PyTorch, transformers and PEFT
    inkling eval --model MODEL --adapter OUT --data held.jsonl --answers

MODEL is a transformers folder, such as `inkling export --format hf` writes. Prints steps, seconds and peak memory.
"""
import argparse
import json
import random
import resource
import time

PEOPLE = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Henry", "Ida", "Jonas", "Kate", "Leo", "Mia",
          "Noah", "Olga", "Paul", "Rosa", "Sam", "Tina", "Viktor"]
OTHERS = ["Alice", "Bruno", "Carmen", "Dario", "Elif", "Frank", "Gina", "Hugo", "Irene", "Jamal"]
THINGS = ["lunch", "dinner", "coffee", "a meeting", "a walk", "a phone call", "a haircut", "a piano lesson", "tennis",
          "a check-up"]
PLACES = ["the station", "the office", "the library", "the town hall", "Café Luna", "the park", "my place", "the pool"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
SENTENCES = ["I have {what} with {who} on {day} at {time} at {where}.", "{who} and I have {what} at {where} on {day}, {time}.",
             "On {day} at {time}: {what} with {who} at {where}.", "Remind me of {what} with {who} at {where}, {day} at {time}.",
             "{what} with {who}? Yes, {day} at {time}, at {where}.", "Let us meet at {where} on {day} at {time}, says {who}; it is {what}."]
TASK = "Write this appointment as JSON: "


def clock(rng):
    """A spoken time, and the same time as HH:MM."""
    hour, minute = rng.randrange(7, 21), rng.choice([0, 15, 30, 45])
    half, shown = "pm" if hour >= 12 else "am", (hour - 1) % 12 + 1
    said = [f"{hour:02}:{minute:02}", f"{shown}:{minute:02} {half}" if minute else f"{shown} {half}"]
    if minute == 30:
        said.append(f"half past {shown} {half}")
    return rng.choice(said), f"{hour:02}:{minute:02}"


def lines(count, held):
    rng = random.Random(2 if held else 1)
    for _ in range(count):
        time_said, time_written = clock(rng)
        facts = {"what": rng.choice(THINGS), "who": rng.choice(OTHERS if held else PEOPLE), "where": rng.choice(PLACES),
                 "day": rng.choice(DAYS)}
        sentence = rng.choice(SENTENCES).format(time=time_said, **facts)
        answer = json.dumps({**facts, "time": time_written}, ensure_ascii=False)
        yield {"messages": [{"role": "user", "content": TASK + sentence[0].upper() + sentence[1:]},
                            {"role": "assistant", "content": answer}]}


def by_peft(args):
    import peft
    import torch
    import transformers
    torch.manual_seed(1)
    torch.set_num_threads(args.threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(args.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32)
    ids_of = lambda messages, ask: tokenizer.apply_chat_template(messages, add_generation_prompt=ask, return_dict=False)

    examples = []
    for messages in (json.loads(line)["messages"] for line in open(args.data)):
        asked, whole = ids_of(messages[:-1], True), ids_of(messages, False)
        examples.append((whole, [-100] * len(asked) + whole[len(asked):]))
    model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, target_modules="all-linear",
                                                       task_type="CAUSAL_LM"))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.rate, weight_decay=0)
    start, steps, rng = time.perf_counter(), 0, random.Random(1)
    model.train()
    progress = 0.0
    while progress < 1:
        rng.shuffle(examples)
        for first in range(0, len(examples), args.batch):
            batch = examples[first:first + args.batch]
            width = max(len(ids) for ids, _ in batch)
            pad = lambda rows, value: torch.tensor([row + [value] * (width - len(row)) for row in rows])
            ids, labels = pad([ids for ids, _ in batch], 0), pad([labels for _, labels in batch], -100)
            mask = pad([[1] * len(ids) for ids, _ in batch], 0)
            for group in optimizer.param_groups:
                group["lr"] = args.rate * (1 - progress)
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
            seconds = time.perf_counter() - start
            progress = max(seconds / args.seconds, steps / args.steps)
            if progress >= 1:
                break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{steps} steps of {args.batch} conversations in {seconds:.0f} s, last loss {loss.item():.4f}, peak {peak:.2f} GB")
    model.save_pretrained(args.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_lines = commands.add_parser("lines")
    of_lines.add_argument("count", type=int)
    of_lines.add_argument("--held", action="store_true")
    of_peft = commands.add_parser("peft")
    for name in ("model", "data", "out"):
        of_peft.add_argument(name)
    of_peft.add_argument("--seconds", type=float, default=600)
    of_peft.add_argument("--steps", type=float, default=float("inf"), help="end before the seconds do")
    of_peft.add_argument("--batch", type=int, default=8)
    of_peft.add_argument("--rate", type=float, default=1e-3, help="the learning rate, which falls to 0")
    of_peft.add_argument("--bf16", action="store_true", help="products in bfloat16")
    of_peft.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if args.command == "peft":
        return by_peft(args)
    for line in lines(args.count, args.held):
        print(json.dumps(line, ensure_ascii=False))


main()
