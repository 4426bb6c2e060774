"""Makes files that llama.cpp's own package writes, for the reader of GGUF:
gguf/types.gguf: a row of 256 numbers in each type, and beside it, as NAME.f32, what the package widens it to;
gguf/sentence_piece.gguf: a llama of one layer with SentencePiece's tokenizer; gguf/blocks.gguf: a qwen3 of one layer whose
matrices are of all the types that stay as they are; gguf/models.json: what llama.cpp makes of texts with the first, its
logits, and what it writes with the second.

    python tests/reference/make_gguf_models.py        (gguf, llama-cpp-python, numpy)
"""
import json
import pathlib

import gguf
import llama_cpp
import numpy as np
from gguf import GGMLQuantizationType as Type

folder = pathlib.Path(__file__).with_name("gguf")
random = np.random.default_rng(7)
half = lambda n: random.uniform(-0.1, 0.1, n).astype(np.float16)


def model_file(name, family, T, C, F, H, K, epsilon, type, **sizes):
    """A model of one layer: context T, width C, F in the feed-forward part, H heads of queries, K of keys and values."""
    out = gguf.GGUFWriter(folder / name, family)
    out.add_name("reference")
    out.add_block_count(1)
    out.add_context_length(T)
    out.add_embedding_length(C)
    out.add_feed_forward_length(F)
    out.add_head_count(H)
    out.add_head_count_kv(K)
    for key, size in sizes.items():
        getattr(out, "add_" + key)(size)
    out.add_rope_freq_base(1000.0)
    out.add_layer_norm_rms_eps(epsilon)
    out.add_file_type(type)
    return out


def write(out):
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


# Random bytes are a block of any type, once its scales, two bytes each, are ordinary numbers.
scales = {Type.Q4_0: (0,), Type.Q4_1: (0, 2), Type.Q5_0: (0,), Type.Q5_1: (0, 2), Type.Q8_0: (0,), Type.Q2_K: (80, 82),
          Type.Q3_K: (108,), Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q6_K: (208,), Type.IQ4_NL: (0,), Type.IQ4_XS: (0,), Type.F16: range(0, 512, 2),
          Type.BF16: ()}


def blocks(type, rows, columns, half):
    block, size = gguf.GGML_QUANT_SIZES[type]
    block, size = (columns, 2 * columns) if block == 1 else (block, size)
    data = random.integers(0, 256, (rows * columns // block, size), dtype=np.uint8)
    if type == Type.BF16:
        data = np.frombuffer((half(256).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes(), np.uint8)[None]
    for place in scales[type]:
        data[:, place:place + 2] = half(len(data)).view(np.uint8).reshape(-1, 2)
    return data.reshape(rows, -1)


out = gguf.GGUFWriter(folder / "types.gguf", "none")
for type in scales:
    data = blocks(type, 1, 256, half)
    values = gguf.quants.dequantize(data, type)
    out.add_tensor(type.name, data, raw_dtype=type)
    out.add_tensor(type.name + ".f32", values.astype(np.float32).reshape(1, 256))
write(out)

# A vocabulary of SentencePiece: a score for each token, the highest is joined first.
words = ["\u2581", "e", "t", "a", "o", "h", "n", "d", "\u00e9", "\u2581t", "he", "\u2581the", "\u2581a", "nd", "\u2581and", "en",
         "hen", "\u2581hen", "\u2581\u2581", "dd", "ddd", "ee"]
tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + words + ["<|user|>", "\n\n"]
kinds = [2, 3, 3] + [6] * 256 + [1] * len(words) + [3, 4]
token_scores = [0.0] * 259 + [-float(i) for i in range(len(words))] + [0.0, 0.0]
V, C, F, T, H, K = len(tokens), 16, 32, 32, 2, 1
d = C // H
path = folder / "sentence_piece.gguf"
out = model_file(path.name, "llama", T, C, F, H, K, 1e-5, gguf.LlamaFileType.MOSTLY_F16, rope_dimension_count=d)
out.add_tokenizer_model("llama")
out.add_tokenizer_pre("default")
out.add_token_list(tokens)
out.add_token_scores(token_scores)
out.add_token_types(kinds)
out.add_bos_token_id(1)
out.add_eos_token_id(2)
out.add_unk_token_id(0)
out.add_add_bos_token(True)
out.add_chat_template("{% for m in messages %}{{ '<|user|>' + m['content'] + eos_token }}{% endfor %}")
matrix = lambda *shape: random.normal(0, 0.4, shape).astype(np.float16)
vector = lambda n: (1 + random.normal(0, 0.1, n)).astype(np.float32)
for name, data in {"token_embd.weight": matrix(V, C), "output_norm.weight": vector(C), "blk.0.attn_norm.weight": vector(C),
                   "blk.0.attn_q.weight": matrix(H * d, C), "blk.0.attn_k.weight": matrix(K * d, C),
                   "blk.0.attn_v.weight": matrix(K * d, C), "blk.0.attn_output.weight": matrix(C, H * d),
                   "blk.0.ffn_norm.weight": vector(C), "blk.0.ffn_gate.weight": matrix(F, C),
                   "blk.0.ffn_up.weight": matrix(F, C), "blk.0.ffn_down.weight": matrix(C, F)}.items():
    out.add_tensor(name, data)
write(out)

texts = ["the hen and the hen", " the", "  and  the", "t\u00e9a \u4e16 hen", "dddd ee eee\nthen", "", "ddddd\n\nhen", "\thanded"]
llama = llama_cpp.Llama(str(path), n_ctx=T, logits_all=True, verbose=False)
ids = [llama.tokenize(text.encode(), add_bos=False, special=False) for text in texts]
llama.eval(ids[0])
logits = np.array(llama.scores[len(ids[0]) - 1], dtype=np.float64)

# Matrices of random blocks, small enough that the numbers between layers stay of an ordinary size. With this seed the
# best token always has a lead that no rounding takes.
random = np.random.default_rng(6)
words = [chr(ord("a") + i) for i in range(24)]
V, C, F, T, H, K, d = len(words), 256, 32, 32, 2, 1, 32
out = model_file("blocks.gguf", "qwen3", T, C, F, H, K, 1e-6, gguf.LlamaFileType.MOSTLY_Q4_K_M, key_length=d,
                 value_length=d)
out.add_quantization_version(gguf.GGML_QUANT_VERSION)
out.add_tokenizer_model("rwkv")
out.add_token_list(words)
out.add_token_types([1] * V)
matrices = {"token_embd": (Type.Q6_K, V, C), "output": (Type.Q4_0, V, C), "blk.0.attn_q": (Type.Q4_K, H * d, C),
            "blk.0.attn_k": (Type.Q5_K, K * d, C), "blk.0.attn_v": (Type.Q6_K, K * d, C), "blk.0.attn_output": (Type.Q5_1, C, H * d),
            "blk.0.ffn_gate": (Type.Q8_0, F, C), "blk.0.ffn_up": (Type.Q5_0, F, C), "blk.0.ffn_down": (Type.Q4_1, C, F)}
for name, (type, *shape) in matrices.items():
    data = blocks(type, *shape, half)
    largest = np.abs(gguf.quants.dequantize(data, type)).max()
    data = blocks(type, *shape, lambda n: (half(n) / largest * 4).astype(np.float16))
    out.add_tensor(name + ".weight", data, raw_dtype=type)
for name, n in {"output_norm": C, "blk.0.attn_norm": C, "blk.0.ffn_norm": C, "blk.0.attn_q_norm": d, "blk.0.attn_k_norm": d}.items():
    out.add_tensor(name + ".weight", vector(n))
write(out)
llama = llama_cpp.Llama(str(folder / "blocks.gguf"), n_ctx=T, logits_all=True, verbose=False)
written = [1, 2, 3]
llama.eval(written)
while len(written) < 16:
    written.append(int(np.argmax(llama.scores[len(written) - 1])))
    llama.eval(written[-1:])
block_logits = np.array(llama.scores[:len(written)], dtype=np.float64)
margins = np.sort(block_logits, axis=1)
print("blocks.gguf:", written, "of logits up to", np.abs(block_logits).max(), "least lead", (margins[:, -1] - margins[:, -2]).min())

(folder / "models.json").write_text(json.dumps({
    "llama_cpp": llama_cpp.__version__, "gguf": "0.19.0", "texts": texts, "ids": ids,
    "logits": [round(float(x), 5) for x in logits], "written": written,
    "block_logits": [[round(float(x), 4) for x in row] for row in block_logits]}, indent=None) + "\n")
for name in ("types.gguf", "sentence_piece.gguf", "blocks.gguf", "models.json"):
    print(name, (folder / name).stat().st_size, "bytes")
