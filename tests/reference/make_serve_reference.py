"""Makes serve.json: log-probabilities of texts under greedy_gpt2/ as transformers computes them.

    python tests/reference/make_serve_reference.py        (torch, transformers)
"""
import json
import pathlib

import torch
import transformers

here = pathlib.Path(__file__).parent
folder = here / "greedy_gpt2"
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

texts = []
for text in ("One day Rosa found a red ball.", "Rosa was a young", "zq 17 ~", "One day " * 11):
    ids = tokenizer.encode(text)
    with torch.no_grad():
        logprobs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    top = logprobs.topk(3)
    texts.append({"text": text, "ids": ids,
                  "logprobs": [float(logprobs[i, ids[i + 1]]) for i in range(len(ids) - 1)],
                  "top": [[[int(t), float(v)] for t, v in zip(top.indices[i], top.values[i])] for i in range(len(ids))]})

(here / "serve.json").write_text(json.dumps({
    "transformers": transformers.__version__, "torch": torch.__version__, "texts": texts}, indent=0) + "\n")
print([len(t["ids"]) for t in texts])
