"""Makes gguf/: a GPT-2 of one layer as a GGUF file of q8_0, written by llama.cpp's own package, and what llama.cpp writes
with the same model.

    python tests/reference/make_gguf_reference.py        (gguf, llama-cpp-python, numpy)

The weights are multiples of 1/256, the same in every program: tensor k, element i has ((37 i + 101 k) mod 255 - 127) / 256,
times 1/4 in matrices, plus 1 in gains. The tokenizer is of characters, which are the first ones of a model of 24.
"""
import json
import pathlib
import tempfile

import gguf
import llama_cpp
import numpy as np

folder = pathlib.Path(__file__).with_name("gguf")
folder.mkdir(exist_ok=True)
characters = "\t\n !\\abdehilnorstuwy\u00e9\u4e16"
V, C, T, heads = 24, 32, 16, 2
shapes = {"token_embd.weight": (V, C), "position_embd.weight": (T, C), "blk.0.attn_norm.weight": (C,),
          "blk.0.attn_norm.bias": (C,), "blk.0.attn_qkv.weight": (3 * C, C), "blk.0.attn_qkv.bias": (3 * C,),
          "blk.0.attn_output.weight": (C, C), "blk.0.attn_output.bias": (C,), "blk.0.ffn_norm.weight": (C,),
          "blk.0.ffn_norm.bias": (C,), "blk.0.ffn_up.weight": (4 * C, C), "blk.0.ffn_up.bias": (4 * C,),
          "blk.0.ffn_down.weight": (C, 4 * C), "blk.0.ffn_down.bias": (C,), "output_norm.weight": (C,),
          "output_norm.bias": (C,)}


def weights(k, name, shape):
    values = ((37 * np.arange(np.prod(shape)) + 101 * k) % 255 - 127) / 256
    values = values / 4 if len(shape) == 2 else values + ("norm.weight" in name)
    return values.reshape(shape).astype(np.float32)


def escaped(c):  # as in RWKV's vocabulary
    return "\\\\" if c == "\\" else f"\\x{ord(c):02x}" if ord(c) < 32 else c


def write(path, kind):
    out = gguf.GGUFWriter(path, "gpt2")
    out.add_name("reference")
    out.add_block_count(1)
    out.add_context_length(T)
    out.add_embedding_length(C)
    out.add_feed_forward_length(4 * C)
    out.add_head_count(heads)
    out.add_layer_norm_eps(1e-5)
    out.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if kind == "q8_0" else gguf.LlamaFileType.ALL_F32)
    if kind == "q8_0":
        out.add_quantization_version(gguf.GGML_QUANT_VERSION)
    out.add_tokenizer_model("rwkv")
    out.add_token_list([escaped(c) for c in characters] + [f"[PAD{i}]" for i in range(len(characters), V)])
    out.add_token_types([1] * len(characters) + [5] * (V - len(characters)))
    for k, (name, shape) in enumerate(shapes.items()):
        data = weights(k, name, shape)
        if kind == "q8_0" and len(shape) == 2 and name != "position_embd.weight":
            q8 = gguf.GGMLQuantizationType.Q8_0
            out.add_tensor(name, gguf.quants.quantize(data, q8), raw_dtype=q8)
        else:
            out.add_tensor(name, data)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def greedy(path, prompt):
    llama = llama_cpp.Llama(str(path), n_ctx=T, verbose=False)
    ids = llama.tokenize(prompt.encode(), add_bos=False)
    written = list(ids)
    llama.eval(ids)
    while len(written) < T - 1:
        written.append(llama.sample(temp=0, repeat_penalty=1.0))
        llama.eval(written[-1:])
    return written


write(folder / "tiny-q8_0.gguf", "q8_0")
prompt = "the \u4e16"
with tempfile.TemporaryDirectory() as scratch:
    write(pathlib.Path(scratch) / "f32.gguf", "f32")
    expected = {"characters": characters, "prompt": prompt, "gguf": "0.19.0", "llama_cpp": llama_cpp.__version__,
                "greedy_f32": greedy(pathlib.Path(scratch) / "f32.gguf", prompt),
                "greedy_q8_0": greedy(folder / "tiny-q8_0.gguf", prompt)}
(folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
print(expected)
for path in sorted(folder.iterdir()):
    print(path.name, path.stat().st_size, "bytes")
