"""Writes characters.json: the ids that the `tokenizers` library gives with a character tokenizer with byte fallback, and
the texts that it makes of ids.

    python make_char_reference.py PROGRAM     (build/inkling, which makes the tokenizer from "text")

"tokenizer" is the program's own file, "samples" texts with ids, "decoded" ids with texts. transformers
(PreTrainedTokenizerFast over the same file) is asked too, and must agree.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import tokenizers
import transformers

here = os.path.dirname(os.path.abspath(__file__))
text = "The quick brown fox jumps over the lazy dog, naïve.\n" * 100 + "Ünique 漢"
samples = [
    "",
    "The dog.\n",
    "The 漢字 Ünique €5 😀 naïve\r\n\ttab",
    "<0x41> <0xZZ> <|endoftext|>",
    "\x00\x7f\u0085\u2028\ufeff\U0010ffff",
    "éé́éé",
]
rng = random.Random(1)
for _ in range(40):
    samples.append("".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xA0, 0xD7FF), rng.randrange(0x10000, 0x1FFFF)])) for _ in range(12)))

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "text.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    run = os.path.join(folder, "run")
    flags = "--recipe nanogpt-cpu --tokenizer char --byte-fallback always --max-iters 1 --n-layer 1 --n-embd 8 --n-head 1 --block-size 8 --eval-every 0"
    subprocess.run([sys.argv[1], "train", path, "--out", run, *flags.split()], check=True, capture_output=True)
    library = tokenizers.Tokenizer.from_file(os.path.join(run, "latest", "tokenizer.json"))
    fast = transformers.AutoTokenizer.from_pretrained(os.path.join(run, "latest"))
    with open(os.path.join(run, "latest", "tokenizer.json"), encoding="utf-8") as file:
        tokenizer = json.load(file)

encoded = [{"text": s, "ids": library.encode(s).ids} for s in samples]
for sample in encoded:
    assert fast(sample["text"])["input_ids"] == sample["ids"], sample
    assert library.decode(sample["ids"]) == sample["text"] == fast.decode(sample["ids"]), sample
decoded = [{"ids": ids, "text": library.decode(ids)} for ids in ([s["ids"][i:j] for s in encoded[:4] for i, j in [(0, 5), (2, 9)]])]
result = {
    "tokenizers": tokenizers.__version__,
    "transformers": transformers.__version__,
    "text": text,
    "tokenizer": tokenizer,
    "samples": encoded,
    "decoded": [d for d in decoded if "\ufffd" not in d["text"]],
}
with open(os.path.join(here, "characters.json"), "w", encoding="utf-8") as file:
    json.dump(result, file, ensure_ascii=True, separators=(",", ":"))
    file.write("\n")
print(len(encoded), "samples,", len(result["decoded"]), "decoded, vocabulary", library.get_vocab_size())
