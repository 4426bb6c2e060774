"""Compares what a model folder of Inkling computes with what transformers and llama.cpp make of it. Run by hand:

    python tests/reference/check_other_programs.py build/inkling MODEL_DIR PROMPT

For a nanochat, also with what transformers makes of it as a qwen3. Prints the difference of the loss over the prompt
between Inkling and transformers, and whether the greedy text is the same: Inkling's, transformers', and llama.cpp's from
a GGUF file of each type. Where llama.cpp's differs, prints by how much the logit of the first token that differs leads in
transformers' float32, and how far llama.cpp's logits are from those there: rounding explains a lead that is no larger.
Needs torch, transformers, llama-cpp-python.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

inkling, folder, prompt = sys.argv[1], sys.argv[2], sys.argv[3]
if not (pathlib.Path(folder) / "config.json").exists():
    folder = str(pathlib.Path(folder) / "best")
config = json.loads((pathlib.Path(folder) / "config.json").read_text())


def run(*arguments):
    return subprocess.run([inkling, *arguments], check=True, capture_output=True, text=True).stdout


context = config.get("n_positions") or config["max_position_embeddings"]
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
ids = tokenizer(prompt, return_tensors="pt").input_ids
length = min(40, context - ids.shape[1])  # beyond the context, each program does something else


def compared(text):
    return "same" if text == ours else f"same for {len(os.path.commonprefix([text, ours]))} characters"


ours = json.loads(run("generate", "--model", folder, "-p", prompt, "-n", str(length), "--temp", "0", "--json"))["text"]
print(f"inkling       {ours!r}")



def in_transformers(model_folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(model_folder).eval()
    with torch.no_grad():
        loss = float(model(ids, labels=ids).loss)
        written = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=length, do_sample=False,
                                 pad_token_id=0)[0, ids.shape[1]:]
    theirs = tokenizer.decode(written)
    with torch.no_grad():
        logits = model(torch.cat([ids, written[None]], 1)).logits[0]
    print(f"{model.config.model_type:14}{theirs!r} {compared(theirs)}, loss {loss - our_loss:+.1e}")
    return written.tolist(), logits.numpy()


def lead(llama, prompt_ids, written, logits):  # at the first token that is not llama.cpp's choice
    llama.reset()
    llama.eval(prompt_ids + written)
    theirs = llama.scores[: len(logits)]
    for at in range(len(prompt_ids) - 1, len(logits) - 1):
        if theirs[at].argmax() != logits[at].argmax():
            second, first = sorted(logits[at])[-2:]
            return f"; token {at - len(prompt_ids) + 1} leads by {first - second:.4f}, logits differ by " \
                   f"{abs(theirs[at] - logits[at]).max():.4f}"
    return ""


with tempfile.TemporaryDirectory() as scratch:
    text = pathlib.Path(scratch) / "prompt.txt"
    text.write_text(prompt)
    our_loss = json.loads(run("eval", "--model", folder, "--data", str(text), "--json"))["loss"]
    written, logits = in_transformers(folder)
    if config["model_type"] == "nanochat":
        run("export", "--model", folder, "--out", f"{scratch}/qwen3", "--format", "hf-qwen3")
        in_transformers(f"{scratch}/qwen3")

    import llama_cpp

    for kind in ("f32", "f16", "bf16", "q8_0"):
        file = f"{scratch}/{kind}.gguf"
        run("export", "--model", folder, "--out", file, "--format", "gguf", "--type", kind)
        llama = llama_cpp.Llama(file, n_ctx=context, verbose=False, logits_all=True)
        prompt_ids = llama.tokenize(prompt.encode(), add_bos=False)
        assert prompt_ids == ids[0].tolist(), (prompt_ids, ids)
        text = llama.create_completion(prompt_ids, max_tokens=length, temperature=0, repeat_penalty=1.0)["choices"][0]["text"]
        print(f"llama.cpp {kind:4}{text!r} {compared(text)}{lead(llama, prompt_ids, written, logits)}")
