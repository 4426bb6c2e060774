#!/usr/bin/env python3
"""Times text generation with random weights of GPT-2 124M's or SmolLM2 135M's shape: inkling generate and llama.cpp in turn.

    bench/generate.py --python /path/to/venv/bin/python      # needs numpy and llama-cpp-python there
    bench/generate.py --shape smollm2 --python ...

Makes a model folder once and exports it as GGUF with inkling export. For each context length, both programs prefill a
prompt of that many tokens and generate the same number of tokens, in turn, round by round, because machines are noisy.
Each round is a fresh process; the figure is the median over the rounds, with the best beside it. "times" is the median
of the rounds' quotients. Random weights take as long as trained ones.

A token reads every weight once, and the keys and values of all tokens before it. "of the memory" is Inkling's tokens/s
times these bytes, divided by the memory's speed, which inkling bench --profile measures in the same round.
"""

import json
import os
import re
import statistics
import struct
import sys
import tempfile

import common


def gpt2():
    V, C, layers, T = 50257, 768, 12, 1024
    linear = {"attn.c_attn": (C, 3 * C), "attn.c_proj": (C, C), "mlp.c_fc": (C, 4 * C), "mlp.c_proj": (4 * C, C)}
    shapes = {"transformer.wte.weight": (V, C), "transformer.wpe.weight": (T, C), "transformer.ln_f.weight": (C,),
              "transformer.ln_f.bias": (C,)}
    for i in range(layers):
        for name, shape in {"ln_1": (C,), "ln_2": (C,), **linear}.items():
            shapes[f"transformer.h.{i}.{name}.weight"] = shape
            shapes[f"transformer.h.{i}.{name}.bias"] = shape[-1:]
    return shapes, {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": V, "n_positions": T,
                    "n_embd": C, "n_layer": layers, "n_head": 12, "activation_function": "gelu_new",
                    "layer_norm_epsilon": 1e-5}


def smollm2():
    V, C, layers, heads, kv_heads, inner, T = 49152, 576, 30, 9, 3, 1536, 8192
    kv = C // heads * kv_heads
    linear = {"self_attn.q_proj": (C, C), "self_attn.k_proj": (kv, C), "self_attn.v_proj": (kv, C),
              "self_attn.o_proj": (C, C), "mlp.gate_proj": (inner, C), "mlp.up_proj": (inner, C), "mlp.down_proj": (C, inner)}
    shapes = {"model.embed_tokens.weight": (V, C), "model.norm.weight": (C,)}
    for i in range(layers):
        for name, shape in {"input_layernorm": (C,), "post_attention_layernorm": (C,), **linear}.items():
            shapes[f"model.layers.{i}.{name}.weight"] = shape
    return shapes, {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": V,
                    "max_position_embeddings": T, "hidden_size": C, "num_hidden_layers": layers,
                    "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": inner,
                    "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "tie_word_embeddings": True}


SHAPES = {"gpt2": gpt2, "smollm2": smollm2}
CONTEXTS = {"gpt2": "8,700", "smollm2": "8,700,3000,6000"}
BYTES = {"f32": 4, "bf16": 2, "q8_0": 34 / 32}  # per weight
FLAGS = {"f32": [], "bf16": ["--precision", "bf16"], "q8_0": ["--quantize", "q8_0"]}


def weights_read(shapes):  # per token, without the small vectors and position table
    return sum(shape[0] * shape[1] for name, shape in shapes.items() if len(shape) == 2 and "wpe" not in name)


def cache_read(config):  # bytes of the float32 keys and values of a token
    layers, width = config.get("num_hidden_layers", config.get("n_layer")), config.get("hidden_size", config.get("n_embd"))
    heads = config.get("num_attention_heads", config.get("n_head"))
    return layers * 2 * 4 * width // heads * config.get("num_key_value_heads", heads)


def make_folder(folder, shapes, config):
    import numpy
    rng = numpy.random.default_rng(1)
    header, parts, at = {}, [], 0
    for name, shape in shapes.items():
        x = rng.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.02)
        x += numpy.float32(1 if len(shape) == 1 and name.endswith("weight") else 0)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + x.nbytes]}
        at += x.nbytes
        parts.append(x.tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.writelines(parts)
    json.dump(config, open(os.path.join(folder, "config.json"), "w"))
    V = config["vocab_size"]
    # byte-level, like GPT-2's: 256 bytes, pairs of bytes until the vocabulary is full, and the end-of-text token
    alphabet = [c for c in range(256) if 33 <= c <= 126 or 161 <= c <= 172 or c >= 174]
    letters = [chr(c) for c in alphabet] + [chr(256 + i) for i in range(256 - len(alphabet))]
    vocab = {c: i for i, c in enumerate(letters)}
    merges = []
    for pair in ((a, b) for a in letters for b in letters):
        if len(vocab) == V - 1:
            break
        vocab["".join(pair)] = len(vocab)
        merges.append(list(pair))
    end = {"id": V - 1, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": True}
    json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [end], "normalizer": None,
               "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
               "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                                                   "use_regex": True},
               "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                         "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
                         "merges": merges}}, open(os.path.join(folder, "tokenizer.json"), "w"))


LLAMA = """
import json, sys, time
import numpy
import llama_cpp
path, prompt, tokens, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
llm = llama_cpp.Llama(path, n_ctx=prompt + tokens + 8, n_batch=1024, n_ubatch=1024, n_threads=threads,
                      n_threads_batch=threads, verbose=False)
ids = [int(i) for i in numpy.random.default_rng(2).integers(0, 256, prompt)]
llm.eval(ids[:8]); llm.reset()
start = time.perf_counter()
llm.eval(ids)
read = time.perf_counter() - start
logits = llama_cpp.llama_get_logits
token = 5
start = time.perf_counter()
for _ in range(tokens):
    llm.eval([token])
    row = numpy.ctypeslib.as_array(logits(llm._ctx.ctx), (llm.n_vocab(),))
    token = int(row.argmax())
decode = time.perf_counter() - start
print(json.dumps({"prompt": prompt / read, "decode": tokens / decode}))
"""


def memory_speed(inkling, threads):  # bytes/s
    out = common.run([inkling, "bench", "--preset", "micro", "--profile", "--seconds", "0.1", "--threads", threads])
    return float(re.search(r"memory ([\d.]+) GB/s", out.stdout)[1]) * 1e9


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--python", default=sys.executable, help="a python that has numpy and llama-cpp-python")
    parser.add_argument("--shape", choices=SHAPES, default="gpt2")
    parser.add_argument("--folder", help="where the model is, or is made; else in the system's temporary folder")
    parser.add_argument("--make", action="store_true", help="make the folder alone (needs numpy in this python)")
    parser.add_argument("--types", default="f32,bf16,q8_0")
    parser.add_argument("--contexts", help="tokens of the prompts; else 8 and 700, and of smollm2 3,000 and 6,000, too")
    parser.add_argument("--tokens", type=int, default=96, help="written behind each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    shapes, config = SHAPES[args.shape]()
    weights = weights_read(shapes)
    args.folder = args.folder or os.path.join(tempfile.gettempdir(), f"inkling-{args.shape}-random")
    if args.make:
        return make_folder(args.folder, shapes, config)
    common.make_model(args.python, args.shape, args.folder)
    contexts = [int(n) for n in (args.contexts or CONTEXTS[args.shape]).split(",")]
    runs = {}  # (weights, context): a dictionary for each round
    for kind in args.types.split(","):
        gguf = os.path.join(args.folder, kind + ".gguf")
        if not os.path.exists(gguf):
            common.run([args.inkling, "export", "--model", args.folder, "--out", gguf, "--format", "gguf", "--type", kind])
        command = [args.inkling, "generate", "--model", args.folder, "--threads", args.threads, "--temperature", "0",
                   "--json", *FLAGS[kind]]
        for n in contexts * args.rounds:
            text = "".join(chr(97 + i % 25) + " " for i in range(n // 2))  # each character is a token here
            own = common.last_json([*command, "-p", text, "-n", args.tokens])
            other = common.last_json([args.python, "-c", LLAMA, gguf, own["prompt_tokens"], args.tokens, args.threads])
            bytes_read = weights * BYTES[kind] + (n + args.tokens / 2) * cache_read(config)
            runs.setdefault((kind, n), []).append({
                "decode": (own["tok_s"], other["decode"]), "prompt": (own["prompt_tok_s"], other["prompt"]),
                "share": own["tok_s"] * bytes_read / memory_speed(args.inkling, args.threads)})
    median = statistics.median
    print("| weights | tokens before | what | Inkling, tokens/s (best) | llama.cpp (best) | times | of the memory |")
    print("|---|---|---|---|---|---|---|")
    for what in ("decode", "prompt"):
        for (kind, n), rounds in runs.items():
            a, b = zip(*(r[what] for r in rounds))
            share = f"{median(r['share'] for r in rounds):.0%}" if what == "decode" else ""
            print(f"| {kind} | {n} | {what} | {median(a):.0f} ({max(a):.0f}) | {median(b):.0f} ({max(b):.0f}) | "
                  f"{median(x / y for x, y in zip(a, b)):.2f} | {share} |")


if __name__ == "__main__":
    main()
