"""Writes bpe.json: what the `tokenizers` library learns from a small text, and the ids that it gives to others.

    python make_bpe_reference.py

"texts" are the training texts, "tokenizer" the library's own file, "samples" texts with ids. "gpt2" has ids of the same
samples by GPT-2's vocabulary (../../../shared/data/gpt2), which tests use where it is present. "variants" are changes to
"tokenizer" (JSON merge patches) with the ids that result.
"""

import copy
import json
import os
import random

import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from random_texts import RandomTexts, fnv

here = os.path.dirname(os.path.abspath(__file__))
texts = [
    "".join(
        f"{who} {verb} {n} {what}{end}"
        for n, (who, verb, what, end) in enumerate(
            (w, v, t, e)
            for w in ["Anna", "the old miller", "nobody", "It's we who", "Ünal"]
            for v in ["baked", "didn't bake", "banana-baked", "counted"]
            for t in ["abababab", "bananas", "bread", "naïve rêves", "мир и мир", "日本日本", "aaaaaa aaaa"]
            for e in [".\n", "!  \n\n", "...\t", "?\r\n"]
        )
    ),
    "Another text: ab ba abab, abcabc bcabca; <|endoftext|> is no mark here. 😀😀 👩‍👩‍👧",
]

samples = [
    "",
    " ",
    "Hello world! It's the miller's bread, isn't it? We'll see; I'm sure they'd've known.",
    "'S 'T 's't 'll'''re ''d 've\n'm",
    "tabs\tand\r\nlines\r\n\r\n  indented\n\t\tmore   \n   ",
    "  two  spaces   before    words \n \n x",
    "123 1234567 3.14 ½ ² Ⅷ ٣٤ 五",
    "naïve rêves, ZÜRICH, Straße, e\u0301 o\u0308\u0323 ﬁ ſ",
    "мир и война; Ἀθήνα; שלום עולם; مرحبا بالعالم; नमस्ते दुनिया; ภาษาไทย; 한국어 ᄒ; こんにちは、世界。; 你好",
    "😀 👩‍👩‍👧‍👦 🇩🇪 ❤️ 👍🏽 \U000e0001 \ue000",
    "\u00a0\u2003a\u3000b\u2028c\u2029d\u0085e\u180ef\u200bg\ufeffh",
    "\x00\x01\x7f\x1c \x1f",
    "x<|endoftext|>y <|endoftext|><|endoftext|>\n<|endoftext",
    "\u1c89\U00031a37x's \U00010d40\U0001fadf\u0897",  # new in Unicode 15 and 16
    "a" * 300 + " " + "ab" * 300 + " " * 200 + "!" * 150,
]
rng = random.Random(1)
pools = ["abcXYZ  '\n\t09.,!", "'s't're've'm'll'd ", " \n\r\t\v\f\x85\u00a0\u3000", "éñüß\u0301\u0308", "миρά", "日本語你好", "שלום\u05b0مرحبا", "नमस्ते", "한국어", "😀👩‍👩‍👧🇩🇪"]
for _ in range(60):
    samples.append("".join(rng.choice(rng.choice(pools)) for _ in range(rng.choice([3, 10, 60]))))


def library_trained(texts, vocab_size, **options):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
        **options,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def merged(tokenizer):
    model = json.loads(tokenizer.to_str())["model"]
    return model["merges"]


tokenizer = library_trained(texts, 400)
file = json.loads(tokenizer.to_str())

split_llama = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
split_nanochat = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


def byte_level(prefix, regex):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def split(pattern, kind="Regex", behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": list(steps)}}


def added(content, **flags):
    token = {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return dict(token, **flags)


def added_tokens(*tokens):
    return {"added_tokens": file["added_tokens"] + [dict(t, id=400 + i) for i, t in enumerate(tokens)]}


marked = "a <m> b<m>  c\t <m>\n<m>x <m>word word<m> ⓐ<m>ⓐ 日<m> \u00a0<m>_ 's<m>'s <m>\u0301 <m><m>y <mm>"
variants = {
    "prefix": {"pre_tokenizer": byte_level(True, True)},
    "no_regex": {"pre_tokenizer": byte_level(False, False)},
    "llama": sequence(split(split_llama), byte_level(False, False)),
    "nanochat": sequence(split(split_nanochat), byte_level(False, False)),
    "removed_inverted": sequence(split(split_llama, behavior="Removed", invert=True), byte_level(False, False)),
    "literal": sequence(split("n.", "String"), split(" a", "String"), byte_level(True, True)),
    "ignore_merges": {"model": {"ignore_merges": True, "merges": file["model"]["merges"][40:]}},
    "fewer_merges": {"model": {"merges": file["model"]["merges"][40:]}},
    "string_merges": {"model": {"merges": [" ".join(m) for m in file["model"]["merges"]]}},
    "plain": added_tokens(added("<m>")),
    "single_word": added_tokens(added("<m>", single_word=True)),
    "lstrip": added_tokens(added("<m>", lstrip=True)),
    "rstrip": added_tokens(added("<m>", rstrip=True)),
    "both_strips": added_tokens(added("<m>", lstrip=True, rstrip=True)),
    "longest": added_tokens(added("<m>"), added("<m>x"), added("<m><m>y", special=True)),
    "normalized_last": added_tokens(added("b<m>", normalized=True), added("<m>"), added("word", normalized=True)),
}


def patched(patch):
    result = copy.deepcopy(file)
    for key, value in patch.items():
        if key == "model":
            result["model"].update(value)
        else:
            result[key] = value
    return Tokenizer.from_str(json.dumps(result))


variant_list = []
for name, patch in variants.items():
    other = patched(patch)
    inputs = [samples[i] for i in (2, 3, 4, 5, 6, 8, 12)] + [marked]
    variant_list.append({"name": name, "patch": patch, "samples": [{"text": t, "ids": other.encode(t).ids} for t in inputs]})

reference = {
    "made_with": "tokenizers " + tokenizers.__version__,
    "texts": texts,
    "tokenizer": file,
    "all_merges": merged(library_trained(texts, 100000)),
    "samples": [{"text": t, "ids": tokenizer.encode(t).ids} for t in samples],
    "variants": variant_list,
}

gpt2 = os.path.join(here, "../../../shared/data/gpt2/")
with open(gpt2 + "encoder.json", encoding="utf-8") as f:
    vocab = json.load(f)
with open(gpt2 + "vocab.bpe", encoding="utf-8") as f:
    merges = [tuple(line.split()) for line in f.read().split("\n")[1:-1]]
big = Tokenizer(models.BPE(vocab=vocab, merges=merges))
big.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
big.add_special_tokens(["<|endoftext|>"])
reference["gpt2"] = [big.encode(t).ids for t in samples]
with open(os.path.join(here, "../../../shared/data/tinyshakespeare.txt"), encoding="utf-8", newline="") as f:
    shakespeare = f.read()

ids = big.encode(shakespeare).ids
hashed = fnv(ids)
small = library_trained([shakespeare], 1000)
reference["shakespeare"] = {"gpt2_count": len(ids), "gpt2_fnv": str(hashed), "last_merges_of_1000": merged(small)[-20:]}

# 100,000 random texts: hashes of their ids, one for each 1,000.
reference["random_texts"] = {"trained": [], "gpt2": []}
random_texts = RandomTexts()
for _ in range(100):
    batch = [random_texts.next() for _ in range(1000)]
    for name, coder in (("trained", tokenizer), ("gpt2", big)):
        hashed = fnv([])
        for text in batch:
            hashed = fnv(coder.encode(text).ids, fnv([len(text.encode())], hashed))
        reference["random_texts"][name].append(str(hashed))

with open(os.path.join(here, "bpe.json"), "w", encoding="utf-8") as f:
    json.dump(reference, f, ensure_ascii=True, separators=(",", ":"))
    f.write("\n")
