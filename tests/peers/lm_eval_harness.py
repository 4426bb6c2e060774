#!/usr/bin/env python3
"""lm-evaluation-harness over `inkling serve` and over transformers, on the same model folder: the same figures.

    python -m venv ~/peers && ~/peers/bin/pip install "lm_eval[api]" torch transformers
    ~/peers/bin/python tests/peers/lm_eval_harness.py build/inkling

Two small tasks of local files: which of four words goes on with a story (log-likelihoods), and the perplexity of stories.
"""
import json
import os
import pathlib
import random
import sys
import tempfile

os.environ.update(HF_DATASETS_OFFLINE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_TELEMETRY="1")
try:
    import lm_eval
    import lm_eval.tasks
    import torch
    import transformers
except ImportError as e:
    print(f"lm_eval_harness.py: skipped: {e}")
    sys.exit(77)
from served import STORIES, Served

program = sys.argv[1] if len(sys.argv) > 1 else "build/inkling"
NAMES = ["Rosa", "Otto", "Lily", "Finn", "Ivy", "Cleo", "Max", "Nora"]
ANIMALS = ["mouse", "rabbit", "turtle", "owl", "crow"]
THINGS = ["ball", "drum", "top", "kite", "hat"]

CHOICE = """
task: words
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/words.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{text}}"
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
target_delimiter: ""
metric_list: [{metric: acc}, {metric: acc_norm}]
"""
ROLLING = """
task: stories
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/stories.jsonl}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{text}}"
metric_list: [{metric: word_perplexity}, {metric: bits_per_byte}]
"""


def write_tasks(folder):
    rng = random.Random(7)
    with open(folder / "words.jsonl", "w") as f:
        for _ in range(60):
            name, animal, thing = rng.choice(NAMES), rng.choice(ANIMALS), rng.choice(THINGS)
            choices = rng.sample([" " + a for a in ANIMALS], 4)
            f.write(json.dumps({"text": f"{name} was a little", "choices": choices, "answer": rng.randrange(4)}) + "\n")
            choices = rng.sample([f" {a} who had lost a {thing}." for a in ANIMALS], 4)
            f.write(json.dumps({"text": f"Soon {name} met a wise", "choices": choices, "answer": rng.randrange(4)}) + "\n")
    with open(folder / "stories.jsonl", "w") as f:
        for _ in range(20):
            name, animal, thing = rng.choice(NAMES), rng.choice(ANIMALS), rng.choice(THINGS)
            f.write(json.dumps({"text": f"{name} was a little {animal}. One morning {name} saw something green under a leaf. "
                                        f"It was a {thing}. Soon {name} met a wise turtle. That night {name} slept very well."}) + "\n")
    (folder / "words.yaml").write_text(CHOICE.replace("FOLDER", str(folder)))
    (folder / "stories.yaml").write_text(ROLLING.replace("FOLDER", str(folder)))


def figures(model, arguments, folder):
    manager = lm_eval.tasks.TaskManager(include_path=str(folder), include_defaults=False)
    results = lm_eval.simple_evaluate(model=model, model_args=arguments, tasks=["words", "stories"], task_manager=manager,
                                      batch_size=8, device="cpu", bootstrap_iters=0)["results"]
    return {f"{task} {name}": value for task, metrics in results.items() for name, value in metrics.items()
            if isinstance(value, float)}


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    write_tasks(folder)
    with Served(program, [f"stories={STORIES}"]) as server:
        ours = figures("local-completions", {"model": "stories", "base_url": server.url + "/v1/completions",
                                             "tokenizer": str(STORIES), "tokenizer_backend": "huggingface",
                                             "max_length": 96, "num_concurrent": 4}, folder)
    theirs = figures("hf", {"pretrained": str(STORIES), "dtype": "float32", "max_length": 96}, folder)
print(f"lm_eval {lm_eval.__version__}")
worst = 0
for name in theirs:
    difference = abs(ours[name] - theirs[name]) / max(abs(theirs[name]), 1e-9)
    worst = max(worst, difference)
    print(f"{name:30} {ours[name]:.6f} {theirs[name]:.6f}")
if not theirs or set(ours) != set(theirs) or worst > 1e-4:
    sys.exit(f"lm_eval_harness.py: the figures differ by {worst:.2g}")
