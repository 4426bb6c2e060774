"""Makes greedy.json and the folders that it is about, greedy_gpt2/, greedy_nanochat/ and greedy_llama/: small models that
Inkling trained on its built-in stories, and the text that transformers writes with them, always taking the likeliest token.

    python tests/reference/make_greedy_reference.py build/inkling [FAMILY...]        (torch, transformers)
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers

here = pathlib.Path(__file__).parent
flags = ["--n-layer", "2", "--n-head", "4", "--n-embd", "32", "--block-size", "96", "--max-iters", "600",
         "--learning-rate", "0.005", "--batch-size", "16", "--eval-every", "0", "--sample-every", "0"]
families = {"gpt2": [], "nanochat": ["--n-kv-head", "2"], "llama": ["--n-kv-head", "2", "--tokenizer", "char"]}
types = {"gpt2": "f32", "nanochat": "f32", "llama": "f16"}
expected = json.loads((here / "greedy.json").read_text())
expected.update({"transformers": transformers.__version__, "torch": torch.__version__})
for arch in sys.argv[2:] or families:
    folder = here / f"greedy_{arch}"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.argv[1], "train", "--out", scratch + "/run", "--arch", arch, *flags, *families[arch]], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.argv[1], "export", "--model", scratch + "/run", "--out", folder, "--format", "hf", "--type",
                        types[arch]], check=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = []
    for prompt in ("One day ", "Rosa was a young", "\n"):
        ids = torch.tensor([tokenizer.encode(prompt)])
        with torch.no_grad():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, eos_token_id=None,
                                 pad_token_id=0, max_new_tokens=95 - ids.shape[1])
            logits = model(out).logits[0]
        top = logits.topk(2).values
        texts.append({"prompt": prompt, "ids": out[0].tolist(), "text": tokenizer.decode(out[0]),
                      "closest": float((top[:, 0] - top[:, 1]).min())})
        print(arch, texts[-1])
    expected[arch] = texts
(here / "greedy.json").write_text(json.dumps(expected, indent=0) + "\n")
