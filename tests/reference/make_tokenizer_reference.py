"""Writes tokenizers.json: small tokenizers of the kinds that well-known families have, and the ids that the `tokenizers` library gives.

    python make_tokenizer_reference.py                                # writes tokenizers.json
    python make_tokenizer_reference.py --llama-cpp path/to/models --program path/to/inkling
                                                                      # llama.cpp's ggml-vocab-*.gguf with .inp and .out

The real vocabularies of these families are not here: their settings are as their tokenizer.json has them, and the merges
are learned from a small text. "random_texts" has, per tokenizer, a hash of the ids and texts of each 10,000 of 100,000
texts, which are those of random_texts.py.
"""

import argparse
import copy
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from random_texts import RandomTexts, fnv

here = os.path.dirname(os.path.abspath(__file__))
texts = [
    "".join(
        f"{who} {verb} {n} {what}{end}"
        for n, (who, verb, what, end) in enumerate(
            (w, v, t, e)
            for w in ["Anna", "the old miller", "nobody", "It's we who", "Ünal", "ÉMILE"]
            for v in ["baked", "didn't bake", "banana-baked", "counted 12345"]
            for t in ["abababab", "bananas", "bread", "naïve rêves", "мир и мир", "日本日本", "aaaaaa aaaa", "    indented"]
            for e in [".\n", "!  \n\n", "...\t", "?\r\n"]
        )
    ),
    "def f(x):\n    return x['a'] + 1234 - 5.75\n" * 20,
    "한국어 각각 한국어 נִקּוּד שָׁלוֹם हिन्दी हिन्दी ไทยไทย é é ö ộ ὦ ﬁ Å Å 각",
]
llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
qwen2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
nanochat = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def split(pattern, kind="Regex", behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def steps(name, *list_):
    return {"type": "Sequence", name: list(list_)}


def pre(*list_):
    return steps("pretokenizers", *list_)


def replace(pattern, content, kind="String"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def mark(name):
    return {"SpecialToken": {"id": name, "type_id": 0}}


def template(before, after=()):
    single = [mark(n) for n in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [mark(n) for n in after]
    return {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": list(before) + list(after)}


def metaspace(scheme="always", split_=True):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split_}


def strip(start, stop=0):
    return {"type": "Strip", "content": " ", "start": start, "stop": stop}


to_spaces = replace("▁", " ")
fallback, fuse = {"type": "ByteFallback"}, {"type": "Fuse"}
nfc = {"type": "NFC"}

# name: settings of tokenizer.json, and of the vocabulary: "bytes" (byte letters) or "characters"
kinds = {
    "llama3": dict(
        pre_tokenizer=pre(split(llama3), byte_level(regex=False)),
        post_processor=steps("processors", byte_level(), template(["<|begin_of_text|>"])),
        special=["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"],
        model=dict(ignore_merges=True),
        drop_merges=30,
    ),
    "qwen2": dict(
        normalizer=nfc,
        pre_tokenizer=pre(split(qwen2), byte_level(regex=False)),
        special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    ),
    "nanochat": dict(pre_tokenizer=pre(split(nanochat), byte_level(regex=False)), special=["<|bos|>"]),
    "smollm": dict(
        pre_tokenizer=pre({"type": "Digits", "individual_digits": True}, byte_level()), special=["<|endoftext|>", "<|im_end|>"]
    ),
    "neox": dict(
        normalizer=nfc,
        pre_tokenizer=byte_level(),
        special=["<|endoftext|>", "<|padding|>"],
        added=[AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)] + [AddedToken("か\u3099x", normalized=True)],
    ),
    "deepseek": dict(
        normalizer=steps("normalizers"),
        pre_tokenizer=pre(
            split("[\r\n]"),
            split("\\s?\\p{L}+"),
            split("\\s?\\p{P}+"),
            split("[一-龥ࠀ-一가-퟿]+"),
            split("\\s+$"),
            {"type": "Digits", "individual_digits": True},
            byte_level(regex=False),
        ),
        special=["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"],
        post_processor=template(["<｜begin▁of▁sentence｜>"]),
    ),
    "falcon": dict(
        pre_tokenizer=pre(
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(),
            {"type": "Digits", "individual_digits": False},
            split("[0-9][0-9][0-9]"),
        ),
        special=["<|endoftext|>"],
    ),
    "tinyllama": dict(
        vocab="characters",
        normalizer=steps("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
        post_processor=template(["<s>"]),
        decoder=steps("decoders", to_spaces, fallback, fuse, strip(1)),
        special=["<unk>", "<s>", "</s>"],
        model=dict(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
    ),
    "mistral": dict(
        vocab="characters",
        pre_tokenizer=metaspace("first", False),
        post_processor=template(["<s>"], ["</s>"]),
        decoder=steps("decoders", to_spaces, fallback, fuse, strip(1)),
        special=["<unk>", "<s>", "</s>"],
        model=dict(unk_token="<unk>", fuse_unk=True, byte_fallback=True, ignore_merges=True),
    ),
    "gemma": dict(
        vocab="characters",
        normalizer=replace(" ", "▁"),
        pre_tokenizer=split(" ", "String", "MergedWithPrevious"),
        decoder=steps("decoders", to_spaces, fallback, fuse),
        special=["<unk>", "<bos>", "<eos>"],
        model=dict(unk_token="<unk>", byte_fallback=True),
    ),
    "metaspace": dict(
        vocab="characters",
        normalizer=steps("normalizers", {"type": "Lowercase"}, nfc, {"type": "Strip", "strip_left": True, "strip_right": True}),
        pre_tokenizer=metaspace(),
        decoder=metaspace(),
        special=["<unk>", "</s>"],
        model=dict(unk_token="<unk>", fuse_unk=True),
    ),
    "words": dict(
        vocab="characters",
        normalizer=steps("normalizers", replace("\\s+", "_", "Regex"), replace("_", " "), {"type": "Strip", "strip_left": False, "strip_right": True}),
        pre_tokenizer=pre({"type": "Whitespace"}, {"type": "Punctuation", "behavior": "MergedWithNext"}),
        decoder=fuse,
        special=["<unk>"],
        model=dict(unk_token="<unk>"),
    ),
    "splits": dict(
        vocab="characters",
        pre_tokenizer=pre(
            {"type": "WhitespaceSplit"},
            split("\\p{L}+", behavior="Removed", invert=True),
            split("a", "String", "MergedWithNext"),
            split("b", "String", "MergedWithPrevious"),
            split("[cde]", "Regex", "Contiguous"),
        ),
        decoder=steps("decoders", strip(1, 1), fuse),
        special=["<unk>"],
        model=dict(unk_token="<unk>", fuse_unk=True),
    ),
    "signs": dict(
        vocab="characters",
        pre_tokenizer=pre({"type": "Punctuation"}, metaspace("always", False), {"type": "Digits", "individual_digits": False}),
        decoder=steps("decoders", metaspace("never"), fuse),
        special=["<unk>"],
        model=dict(unk_token="<unk>"),
    ),
}


def learned(settings, vocab_size):
    """tokenizer.json with merges that the library learned from `texts`."""
    bytes_ = settings.get("vocab", "bytes") == "bytes"
    t = Tokenizer(models.BPE(**{k: v for k, v in settings.get("model", {}).items() if k == "unk_token"}))
    whole = json.loads(t.to_str())
    for part in ("normalizer", "pre_tokenizer"):
        whole[part] = settings.get(part)
    t = Tokenizer.from_str(json.dumps(whole))
    byte_tokens = [f"<0x{b:02X}>" for b in range(256)] if settings.get("model", {}).get("byte_fallback") else []
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=settings["special"] + byte_tokens,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if bytes_ else [],
        limit_alphabet=1000 if bytes_ else 60,
        max_token_length=16,
        show_progress=False,
    )
    t.train_from_iterator(texts, trainer)
    whole = json.loads(t.to_str())
    whole["added_tokens"] = [a for a in whole["added_tokens"] if a["content"] not in byte_tokens]
    whole["model"].update(settings.get("model", {}))
    drop = settings.get("drop_merges", 0)
    if drop:
        whole["model"]["merges"] = whole["model"]["merges"][drop:]
    whole["decoder"] = settings.get("decoder", byte_level(True))
    after = copy.deepcopy(settings.get("post_processor"))
    for part in after.get("processors", [after]) if after else []:
        if part["type"] == "TemplateProcessing":
            part["special_tokens"] = {
                n: {"id": n, "ids": [whole["model"]["vocab"][n]], "tokens": [n]} for n in part["special_tokens"]
            }
            part["pair"] = part["single"] + [{"Sequence": {"id": "B", "type_id": 1}}]
    whole["post_processor"] = after
    whole["truncation"] = {"direction": "Right", "max_length": 512000, "strategy": "LongestFirst", "stride": 0}
    whole["padding"] = {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    t = Tokenizer.from_str(json.dumps(whole))
    t.add_tokens(settings.get("added", []))
    return t


samples = [
    "",
    " ",
    "Hello world! It's the miller's bread, isn't it? We'll see; I'm sure they'd've known.",
    "  two  spaces   before    words \n \n x   ",
    "123 1234567 3.14 ½ ² Ⅷ ٣٤ 五 \u0661\U00011de1",
    "naïve rêves, ZÜRICH, İI Straße, e\u0301 o\u0308\u0323 o\u0323\u0308 a\u0300\u0345 ﬁ ſ \u212b \u1100\u1161\u11a8",
    "мир и война; Ἀθήνα; שָׁלוֹם עולם; مرحبا; नमस्ते; ภาษาไทย; 한국어; こんにちは、世界。",
    "😀 👩‍👩‍👧‍👦 🇩🇪 ❤️ \U000e0001 \ue000 \u00a0\u2003a\u3000b\u2028c\u0085e\u180ef\u200bg",
    "x<|endoftext|>y <|end_of_text|><s>z</s> <unk>\n<|im_start|>a<|begin_of_text|>",
    "_a ▁b ▁▁c ▁",
    "ほか\u3099xが がx",
    "a\u0898\u0301b\u1ac1\u0327 \U00011935\U00011930 \u0897\u0301",
    "def f(x):\n        return x['abc'] + 12345\n\n\n",
    "!!!... $$$ <<>> --==++ «a» “b” \u2e52 \U00011660",
    "a" * 80 + " " + "ab" * 80 + " " * 30 + "!" * 50,
]

def coders():
    for name, settings in kinds.items():
        t = learned(settings, 700 if settings.get("vocab", "bytes") == "bytes" else 600)
        t.no_truncation()
        yield name, t, json.loads(t.to_str())


def ids_of(t, text):
    return t.encode(text, add_special_tokens=False).ids


def every_character():
    """Hashes of what the library does with each character, whose Unicode is of several versions."""
    all_ = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    lower, normal = normalizers.Lowercase(), normalizers.NFC()
    members = {
        "punctuation": lambda c, p=pre_tokenizers.Punctuation("removed"): not p.pre_tokenize_str(c),
        "digits": lambda c, p=pre_tokenizers.Digits(True): len(p.pre_tokenize_str("a" + c)) == 2,
        "words": lambda c, p=pre_tokenizers.Whitespace(): len(p.pre_tokenize_str("a" + c)) == 1 and c.strip() != "" and p.pre_tokenize_str("a" + c)[0][0] != "a",
        "spaces": lambda c, p=pre_tokenizers.WhitespaceSplit(): not p.pre_tokenize_str(c),
    }
    hashes = {name: str(fnv(ord(c) for c in all_ if is_member(c))) for name, is_member in members.items()}
    hashes["lowercase"] = str(fnv("".join(lower.normalize_str(c) for c in all_).encode()))
    hashes["nfc"] = str(fnv("".join(normal.normalize_str(f"x\u0327{c}\u0301{c}\u0300a\u0345{c}\u0334e") for c in all_).encode()))
    return hashes


def trained():
    """What BpeTrainer makes with the pattern of each family."""
    result = {}
    for name, pattern in (("llama3", llama3), ("qwen2", qwen2), ("nanochat", nanochat)):
        t = Tokenizer(models.BPE())
        t.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
        trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                      special_tokens=["<|endoftext|>"], max_token_length=65536, show_progress=False)
        t.train_from_iterator(texts, trainer)
        model = json.loads(t.to_str())["model"]
        result[name] = {"merges": model["merges"], "vocab_fnv": str(fnv("".join(f"{k} {v} " for k, v in sorted(model["vocab"].items(), key=lambda p: p[1])).encode()))}
    return result


def write():
    reference = {"made_with": "tokenizers " + tokenizers.__version__, "texts": texts, "every_character": every_character(),
                 "trained": trained(), "tokenizers": {}}
    texts_at_random = RandomTexts()
    random_texts = [texts_at_random.next() for _ in range(100_000)]
    for name, t, file in coders():
        t.no_padding()
        entry = {"tokenizer": file, "samples": []}
        for text in samples:
            ids = ids_of(t, text)
            sample = {"text": text, "ids": ids, "decoded": t.decode(ids, skip_special_tokens=False)}
            t.encode_special_tokens = True
            plain = ids_of(t, text)
            t.encode_special_tokens = False
            if plain != ids:
                sample["plain"] = plain
            entry["samples"].append(sample)
        entry["marked"] = t.encode("ab").ids
        entry["random_texts"] = []
        for start in range(0, len(random_texts), 10_000):
            hashed = fnv([])
            for text in random_texts[start : start + 10_000]:
                ids = ids_of(t, text)
                decoded = t.decode(ids, skip_special_tokens=False)
                hashed = fnv(decoded.encode(), fnv(ids, hashed))
            entry["random_texts"].append(str(hashed))
        reference["tokenizers"][name] = entry
        print(name, file["model"]["vocab"].__len__(), file=sys.stderr)
    with open(os.path.join(here, "tokenizers.json"), "w", encoding="utf-8") as f:
        json.dump(reference, f, ensure_ascii=True, separators=(",", ":"))
        f.write("\n")


def read_gguf(path):
    """The keys of a GGUF file."""
    data = open(path, "rb").read()
    at = 24

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return data[at - size : at].decode("utf-8", "surrogateescape")

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            inner, count = take("I"), take("Q")
            return [value(inner) for _ in range(count)]
        return take({0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}[kind])

    assert data[:4] == b"GGUF"
    pairs = struct.unpack_from("<Q", data, 16)[0]
    return {text(): value(take("I")) for _ in range(pairs)}


def rebuilt(name, keys):
    """tokenizer.json of one of llama.cpp's vocabularies; None if its settings are not known here."""
    like = {"gpt-2": "gpt2", "starcoder": "smollm", "refact": "smollm", "mpt": "neox", "falcon": "falcon", "deepseek-coder": "deepseek-coder",
            "deepseek-llm": "deepseek-llm", "llama-bpe": "llama3", "qwen2": "qwen2", "smollm": "smollm", "command-r": "smollm",
            "llama-spm": "tinyllama", "phi-3": "tinyllama"}.get(name)
    if like is None:
        return None
    settings = dict(kinds.get(like, {}))
    if like == "gpt2":
        settings["pre_tokenizer"] = byte_level()
    if like == "deepseek-coder":
        cjk = [p for p in kinds["deepseek"]["pre_tokenizer"]["pretokenizers"] if p.get("pattern", {}).get("Regex") != "\\s+$"]
        settings.update(pre_tokenizer=pre(*cjk), normalizer=steps("normalizers"))
    if like == "deepseek-llm":
        letters = "[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]"
        signs = "[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]"
        settings.update(
            pre_tokenizer=pre(split("[\r\n]"), split("\\s?" + letters + "+"), split("\\s?" + signs + "+"), split("\\s+$"),
                              split("[一-龥ࠀ-一가-퟿]+"), {"type": "Digits", "individual_digits": True}, byte_level(regex=False)),
            normalizer=steps("normalizers"))
    tokens, kinds_ = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.token_type"]
    vocab = {t: i for i, t in enumerate(tokens) if kinds_[i] != 5}
    file = {
        "version": "1.0", "truncation": None, "padding": None,
        "normalizer": settings.get("normalizer"), "pre_tokenizer": settings.get("pre_tokenizer"), "post_processor": None,
        "decoder": settings.get("decoder", byte_level(True)),
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": like == "llama3"},
        "added_tokens": [],
    }
    if like == "tinyllama":
        file["model"].update(settings["model"])
        scores = keys["tokenizer.ggml.scores"]
        merges = []  # every two tokens that make a third, in the order of its score
        for token in sorted((t for t in vocab if kinds_[vocab[t]] == 1), key=lambda t: -scores[vocab[t]]):
            pairs = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in vocab and token[i:] in vocab]
            merges += sorted(pairs, key=lambda p: (vocab[p[0]], vocab[p[1]]))
        file["model"]["merges"] = merges
    else:
        file["model"]["merges"] = [m.split(" ") for m in keys["tokenizer.ggml.merges"]]
    # Special tokens behind the model's own are added: the library numbers them from there.
    made = {"".join(m) for m in file["model"]["merges"]} | set(pre_tokenizers.ByteLevel.alphabet())
    first_added = max((i for t, i in vocab.items() if t in made or like == "tinyllama"), default=-1) + 1
    file["added_tokens"] = [
        {"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": kinds_[i] == 4, "special": kinds_[i] != 4}
        for t, i in sorted(vocab.items(), key=lambda p: p[1]) if kinds_[i] in (2, 3, 4) or (i >= first_added and kinds_[i] == 1)]
    model_size = max(first_added, 1)
    file["model"]["vocab"] = {t: i for t, i in vocab.items() if i < model_size or kinds_[i] == 6}
    return file


def encoded_by(program, tokenizer, text):
    run = subprocess.run([program, "tokenize", "encode", "--tokenizer", tokenizer, "-f", "-"], input=text.encode(), capture_output=True)
    return [int(i) for i in run.stdout.split()] if run.returncode == 0 else run.stderr.decode()


def check_llama_cpp(models_folder, program):
    bad = 0
    for path in sorted(glob.glob(os.path.join(models_folder, "ggml-vocab-*.gguf"))):
        name = os.path.basename(path)[len("ggml-vocab-") : -len(".gguf")]
        if not os.path.exists(path + ".inp"):
            continue
        file = rebuilt(name, read_gguf(path))
        if file is None:
            print(f"{name}: settings not known")
            continue
        inputs = open(path + ".inp", encoding="utf-8", newline="").read().split("\n__ggml_vocab_test__\n")
        outputs = [[int(i) for i in line.split()] for line in open(path + ".out").read().split("\n")]
        library = Tokenizer.from_str(json.dumps(file))
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/tokenizer.json", "w", encoding="utf-8") as f:
                json.dump(file, f)
            ids = [encoded_by(program, folder, text) for text in inputs]
        differ = [i for i, text in enumerate(inputs) if ids[i] != outputs[i]]
        of_library = [i for i, text in enumerate(inputs) if ids_of(library, text) != outputs[i]]
        print(f"{name}: {len(inputs)} texts; other ids than llama.cpp's: {len(differ)}, and the tokenizers library: {len(of_library)}", flush=True)
        for i in differ:
            print("   ", json.dumps(inputs[i]), outputs[i], ids[i])
        bad += len(differ)
    return bad


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program")
    arguments.add_argument("--llama-cpp")
    args = arguments.parse_args()
    if args.llama_cpp:
        sys.exit(check_llama_cpp(args.llama_cpp, args.program) != 0)
    write()
