"""A model that learned to answer questions, whole and by adapters, exported merged, and asked again in transformers and llama.cpp:

    python tests/peers/finetuned.py [build/inkling] [FOLDER]        (torch, transformers; llama-cpp-python)

Without a FOLDER of runs it trains them as docs/finetuning.md does: FOLDER/base, FOLDER/full, FOLDER/lora. Each library that is
there answers 50 questions that nobody has seen, greedily; the answers must be those of `inkling chat`.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/inkling")
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else scratch.name)


def inkling(*arguments, text=None):
    done = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def train():
    chats = folder / "chats.jsonl"
    chats.write_text(inkling("data", "stories", "--questions", 500))
    inkling("train", "--out", folder / "base", "--chat-template", "chatml", "--max-time", 45)
    for out, flags in (("full", []), ("lora", ["--lora-rank", 32, "--lora-targets", "q_proj,k_proj,v_proj,o_proj,lm_head"])):
        inkling("train", "--data", chats, "--init-from", folder / "base", "--out", folder / out, "--max-time", 60, *flags)


def in_transformers(model, conversations):
    import torch
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    for messages in conversations:
        ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        made = loaded.generate(**ids, max_new_tokens=24, do_sample=False, pad_token_id=0)
        yield tokenizer.decode(made[0][ids["input_ids"].shape[1]:], skip_special_tokens=True)


def in_llama_cpp(gguf, conversations):
    import llama_cpp
    model = llama_cpp.Llama(str(gguf), n_ctx=128, verbose=False)
    for messages in conversations:
        answer = model.create_chat_completion(messages, max_tokens=24, temperature=0)
        yield answer["choices"][0]["message"]["content"]


if len(sys.argv) <= 2:
    train()
questions = [json.loads(line)["messages"] for line in
             inkling("data", "stories", "--questions", 50, "--seed", 77).splitlines()]
asked = [messages[:-1] for messages in questions]
lines = "".join(json.dumps({"messages": messages}) + "\n" for messages in asked)
failed = 0
for run in ("full", "lora"):
    hf, gguf = folder / f"{run}-merged", folder / f"{run}.gguf"
    inkling("export", "--model", folder / run, "--format", "hf", "--out", hf)
    inkling("export", "--model", folder / run, "--out", gguf, "--type", "f32")
    own = [json.loads(line)["content"] for line in
           inkling("chat", "--model", folder / run, "--json", "--temperature", 0, text=lines).splitlines()]
    right = sum(mine == messages[-1]["content"] for mine, messages in zip(own, questions))
    print(f"{run}: inkling answers {right} of {len(questions)} right")
    for library, needs, answers in (("transformers", "transformers", lambda: in_transformers(hf, asked)),
                                    ("llama.cpp", "llama_cpp", lambda: in_llama_cpp(gguf, asked))):
        if importlib.util.find_spec(needs) is None:
            print(f"{run}: {library} is not installed")
            continue
        other = list(answers())
        same = sum(a.strip() == b.strip() for a, b in zip(own, other))
        print(f"{run}: {library} gives the same answer to {same} of {len(questions)}")
        failed += same != len(questions)
sys.exit(1 if failed else 0)
