"""Makes gguf/special_tokens.json: what llama.cpp's gguf-py writes about special tokens for small model folders.

    python tests/reference/make_special_tokens.py        (gguf)
"""
import json
import pathlib
import tempfile

import gguf

here = pathlib.Path(__file__).parent
keys = gguf.Keys.Tokenizer
ids = {"bos": keys.BOS_ID, "eos": keys.EOS_ID, "eot": keys.EOT_ID, "eom": keys.EOM_ID, "unk": keys.UNK_ID, "sep": keys.SEP_ID,
       "pad": keys.PAD_ID, "mask": keys.MASK_ID}
added = {"bos": keys.ADD_BOS, "eos": keys.ADD_EOS}

tokens = ["<|endoftext|>", "<|begin|>", "<|done|>", "<|turn|>", "<|pad|>", "<|none|>", "<|other|>"]
end, begin, done, turn, pad, none, other = range(300, 307)  # behind a vocabulary of 300

# name: files, and what post-processing puts around a text
cases = {
    "one token for all": ({"tokenizer_config.json": {"bos_token": tokens[0], "eos_token": tokens[0], "unk_token": tokens[0]},
                           "config.json": {"bos_token_id": end, "eos_token_id": end}}, [], []),
    "names that are on no list": ({"tokenizer_config.json": {"eos_token": tokens[2], "pad_token": tokens[4], "bos_token": tokens[1]},
                                   "config.json": {"eos_token_id": done}}, [], []),
    "the text before the id": ({"tokenizer_config.json": {"eos_token": {"content": tokens[2], "lstrip": False}},
                                "config.json": {"eos_token_id": done, "pad_token_id": end, "bos_token_id": turn}}, [], []),
    "ids alone": ({"tokenizer_config.json": {"bos_token": None},
                   "config.json": {"bos_token_id": begin, "eos_token_id": done, "pad_token_id": pad}}, [], []),
    "no tokenizer_config.json": ({"config.json": {"bos_token_id": begin, "eos_token_id": done}}, [], []),
    "a begin in the template": ({"tokenizer_config.json": {"bos_token": tokens[1], "eos_token": tokens[0]}}, [begin], []),
    "a flag against the template": ({"tokenizer_config.json": {"bos_token": tokens[1], "eos_token": tokens[0],
                                                               "add_bos_token": False}}, [begin], []),
    "flags alone": ({"tokenizer_config.json": {"bos_token": tokens[1], "eos_token": tokens[0], "add_bos_token": True,
                                               "add_eos_token": True}}, [], []),
    "a begin and an end in the template": ({"tokenizer_config.json": {"bos_token": tokens[1], "eos_token": tokens[2]}},
                                           [begin], [done]),
    "another end in the template": ({"tokenizer_config.json": {"bos_token": tokens[1], "eos_token": tokens[2]}}, [], [other]),
    "sep and mask": ({"tokenizer_config.json": {"eos_token": tokens[2], "sep_token": tokens[3], "mask_token": tokens[6],
                                                "unk_token": tokens[5]}}, [], []),
}


def tokenizer(before, after):
    mark = lambda i: {"SpecialToken": {"id": tokens[i - 300], "type_id": 0}}
    return {"added_tokens": [{"id": 300 + i, "content": t} for i, t in enumerate(tokens)],
            "post_processor": {"type": "TemplateProcessing",
                               "single": [*map(mark, before), {"Sequence": {"id": "A", "type_id": 0}}, *map(mark, after)]}}


def written(files, before, after):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**files, "tokenizer.json": tokenizer(before, after)}.items():
            (pathlib.Path(folder) / name).write_text(json.dumps(content))
        vocab = gguf.SpecialVocab(folder)
    return {**{ids[name]: i for name, i in vocab.special_token_ids.items() if name in ids},
            **{added[name]: flag for name, flag in vocab.add_special_token.items() if name in added}}


out = {"tokens": tokens, "cases": [{"name": name, "files": files, "before": before, "after": after, "keys": written(files, before, after)}
                                   for name, (files, before, after) in cases.items()]}
(here / "gguf/special_tokens.json").write_text(json.dumps(out, indent=1) + "\n")
