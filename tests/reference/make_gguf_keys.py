"""Makes gguf/keys.json: what llama.cpp computes with each key of a GGUF file that may change its result. Each case is a tiny
model with some keys set; "logits" of the last token are compared with those of the same model without them.

    python tests/reference/make_gguf_keys.py        (gguf, llama-cpp-python, numpy)

The weights are multiples of 1/256, the same in every program: tensor k, element i has ((37 i + 101 k) mod 255 - 127) / 256,
plus 1 in gains.
"""
import json
import os
import pathlib
import tempfile

import gguf
import llama_cpp
import numpy as np

out = pathlib.Path(__file__).with_name("gguf") / "keys.json"
V, C, F, T, H, d = 16, 16, 24, 24, 2, 8
characters = "\n abcdefghijklmn"
ids = [3, 7, 1, 12, 5, 9, 2, 14, 4, 11, 6, 8]


def tensors(family):
    old = family in ("gpt2", "gptneox")  # layer norms and biases
    pair = lambda name, *shape: [[name + ".weight", list(shape)]] + ([[name + ".bias", [shape[0]]]] if old else [])
    top = [["token_embd.weight", [V, C]], ["output.weight", [V, C]]] + pair("output_norm", C)
    if family == "gpt2":
        top += [["position_embd.weight", [T, C]]]
    layer = pair("attn_norm", C) + pair("ffn_norm", C) + pair("attn_output", C, C) + pair("ffn_up", F, C) + pair("ffn_down", C, F)
    layer += pair("attn_qkv", 3 * C, C) if old else [["ffn_gate.weight", [F, C]]]
    for name in () if old else ("attn_q", "attn_k", "attn_v"):
        layer += pair(name, C, C) + ([[name + ".bias", [C]]] if family == "qwen2" else [])
    if family in ("qwen3", "gemma3"):
        layer += [["attn_q_norm.weight", [d]], ["attn_k_norm.weight", [d]]]
    if family == "gemma3":
        layer += [["post_attention_norm.weight", [C]], ["post_ffw_norm.weight", [C]]]
    return {"top": top, "layer": layer, "layers": 7 if family == "gemma3" else 2}


families = {family: tensors(family) for family in ("llama", "qwen2", "qwen3", "gemma3", "gpt2", "gptneox")}


def base_keys(family):
    old = family in ("gpt2", "gptneox")
    keys = {"block_count": families[family]["layers"], "context_length": T, "embedding_length": C, "feed_forward_length": F,
            "attention.head_count": H, f"attention.layer_norm{'' if old else '_rms'}_epsilon": 1e-5}
    if family == "gemma3":
        keys["attention.sliding_window"] = 4
    if family == "gptneox":
        keys |= {"use_parallel_residual": True, "rope.dimension_count": 4}
    return {f"{family}.{key}": value for key, value in keys.items()}


def set_key(writer, key, value):
    if isinstance(value, list):
        writer.add_array(key, value)
    else:
        {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)](key, value)


def write(path, architecture, keys, family=None):
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in keys.items():
        if value is not None:
            set_key(writer, key, value)
    if family:
        names = families[family]["top"] + [[f"blk.{i}.{name}", shape] for i in range(families[family]["layers"])
                                           for name, shape in families[family]["layer"]]
        for k, (name, shape) in enumerate(names):
            values = ((37 * np.arange(np.prod(shape)) + 101 * k) % 255 - 127) / 256 + name.endswith("norm.weight")
            writer.add_tensor(name, values.reshape(shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def answer(compute):  # in a process of its own, which llama.cpp may end
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.write(written, json.dumps(compute()).encode())
        finally:
            os._exit(0)
    os.close(written)
    text = b""
    while part := os.read(read, 1 << 16):
        text += part
    os.close(read)
    os.waitpid(child, 0)
    return json.loads(text) if text else "refused"


os.environ["GGML_NO_BACKTRACE"] = "1"
folder = tempfile.TemporaryDirectory()
path = folder.name + "/m.gguf"
vocabulary = {"tokenizer.ggml.model": "rwkv", "tokenizer.ggml.tokens": ["\\x0a"] + list(characters[1:])}


def logits(family, keys):
    write(path, family, vocabulary | base_keys(family) | keys, family)

    def compute():
        llama = llama_cpp.Llama(path, n_ctx=T, n_threads=1, logits_all=True, verbose=False, type_k=0, type_v=0)
        llama.eval(ids)
        return [round(float(x), 5) for x in llama.scores[len(ids) - 1]]

    return answer(compute)


def variants(family):
    """Keys of an architecture (without its name), then others."""
    n, window = families[family]["layers"], family == "gemma3"
    yield from ({key: value} for key, value in {
        "attention.causal": False, "rope.freq_base": 500.0, "rope.freq_base_swa": 500.0, "rope.scaling.factor": 4.0,
        "rope.scale_linear": 4.0, "rope.scaling.attn_factor": 2.0, "rope.scaling.alpha": 50.0,
        "rope.scaling.original_context_length": 8, "rope.scaling.finetuned": True, "rope.scaling.yarn_ext_factor": 1.0,
        "rope.scaling.yarn_attn_factor": 2.0, "rope.scaling.yarn_beta_fast": 2.0, "rope.scaling.yarn_beta_slow": 0.5,
        "rope.scaling.yarn_log_multiplier": 0.5, "rope.dimension_count": 2, "rope.dimension_count_swa": 4,
        "rope.dimension_sections": [1, 1, 1, 1], "attention.key_length": 8, "attention.value_length": 8,
        "attention.key_length_swa": 4, "attention.value_length_swa": 4, "attention.scale": 0.9,
        "attention.output_scale": 2.0, "attention.value_scale": 2.0, "attention.clamp_kqv": 0.1,
        "attention.max_alibi_bias": 8.0, "attention.temperature_length": 4, "attention.temperature_scale": 2.0,
        "attention.group_norm_epsilon": 0.5, "attention.shared_kv_layers": 1, "attention.head_count_kv": 2,
        "attn_logit_softcapping": 1.0, "final_logit_softcapping": 1.0, "router_logit_softcapping": 1.0, "logit_scale": 3.0,
        "residual_scale": 0.5, "embedding_scale": 2.0, "swin_norm": True, "hidden_activation": "relu",
        "use_parallel_residual": False, "vocab_size": V, "tensor_data_layout": "Meta AI original pth", "pooling_type": 1,
        "expert_count": 4, "expert_used_count": 2, "expert_weights_scale": 2.0, "leading_dense_block_count": 1,
        "nextn_predict_layers": 1, "full_attention_interval": 2, "num_loops": 2, "decoder_start_token_id": 3,
        "rescale_every_n_layers": 1, "embedding_length_per_layer_input": 4}.items())
    yield {"rope.scaling.type": "linear"}
    yield {"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}
    yield {"rope.scaling.type": "linear", "rope.scaling.factor": 0.0, "rope.scale_linear": 4.0}
    yield {"rope.scaling.factor": 2.0, "rope.scale_linear": 4.0}
    yield {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}
    yield {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}
    yield {"rope.scaling.type": "longrope", "rope.scaling.factor": 4.0}
    for key, one in {"feed_forward_length": F, "attention.head_count": H, "attention.head_count_kv": H}.items():
        yield {key: [one] * n}
        yield {key: [one] * (n - 1) + [one // 2]}
    if window:
        for pattern in (3, 1, 0, 7, [True] * 5 + [False, True], [True, False] * 3 + [True], [1, 1, 0] * 2 + [1], [True] * 7,
                        [False] * 7, [True, True, False, False, True, True, False]):
            yield {"attention.sliding_window_pattern": pattern}
        yield {"attention.sliding_window": 0, "attention.sliding_window_pattern": 3}
        yield {"attention.sliding_window": 2}
        yield {"rope.freq_base": 500.0, "rope.scaling.factor": 4.0}
        yield {"attention.sliding_window": None, "rope.scaling.factor": 4.0}


others = [{"general.name": "a name"}, {"general.file_type": 7}, {"general.quantization_version": 2}, {"general.type": "adapter"},
          {"general.sampling.temp": 0.1}, {"general.sampling.top_k": 3}, {"split.count": 1}, {"split.no": 0},
          {"adapter.type": "lora"}, {"adapter.lora.alpha": 4.0}, {"tokenizer.huggingface.json": "{}"}]
models = []
bases = {family: logits(family, {}) for family in families}
for family in families:
    for keys in [{f"{family}.{key}": value for key, value in case.items()} for case in variants(family)] + others:
        theirs = logits(family, keys)
        if theirs != "refused":
            change = max(abs(a - b) for a, b in zip(theirs, bases[family]))
            assert change < 1e-4 or change > 0.01, (family, keys, change)
            theirs = theirs if change > 0.01 else "same"
        models.append({"family": family, "keys": keys, "logits": theirs})

# Tokenizers: ids of a text with the marks around it, and the tokens that end a text.
texts = ["the hen", " the  hen: \u00e9 12345, it's <|im_end|>", "a<s>b</s>"]
words = ["\u2581", "e", "t", "h", "n", "a", "b", "\u2581t", "he", "\u2581the", "en"]
marks = ["<|im_start|>", "<|im_end|>", "<|mine|>", "<|end|>", "<|call|>", "<fim_suffix>", "<|fim_pad|>"]
pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + words + marks + ["<|end_of_text|>"]
letters = sorted(map(chr, [*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324)]))
pairs = ["h e", "\u0120 t", "\u0120t he", "1 2", "12 3", "e n", ": \u0120", ", \u0120"]
vocabularies = {
    "llama": {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": pieces,
              "tokenizer.ggml.scores": [0.0] * 259 + [-1.0 - i for i in range(len(words))] + [0.0] * (len(marks) + 1),
              "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * len(words) + [3] * len(marks) + [1]},
    "gpt2": {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.merges": pairs,
             "tokenizer.ggml.tokens": letters + [pair.replace(" ", "") for pair in pairs] + ["<s>", "</s>", *marks],
             "tokenizer.ggml.token_type": [1] * (len(letters) + len(pairs)) + [3] * (2 + len(marks)),
             "tokenizer.ggml.bos_token_id": len(letters) + len(pairs),
             "tokenizer.ggml.eos_token_id": len(letters) + len(pairs) + 3}}


def tokenized(name, keys):
    write(path, "llama", base_keys("llama") | vocabularies[name] | keys)

    def compute():
        llama = llama_cpp.Llama(path, vocab_only=True, verbose=False)
        vocab = llama_cpp.llama_model_get_vocab(llama.model)
        encode = lambda text: llama._model.tokenize(text.encode(), True, True)
        ends = [id for id in range(len(vocabularies[name]["tokenizer.ggml.tokens"])) if llama_cpp.llama_vocab_is_eog(vocab, id)]
        return {"ids": [encode(text) for text in texts], "ends": ends}

    return answer(compute)


tokenizers = []
for name in vocabularies:
    size = len(vocabularies[name]["tokenizer.ggml.tokens"])
    mine = vocabularies[name]["tokenizer.ggml.tokens"].index("<|mine|>")
    cases = [{f"tokenizer.ggml.{key}_token_id": mine} for key in (
        "bos", "eos", "eot", "eom", "unknown", "padding", "seperator", "mask", "cls", "fim_pre", "fim_suf", "fim_mid", "fim_pad",
        "fim_rep", "fim_sep", "prefix", "suffix", "middle")]
    cases += [{f"tokenizer.ggml.{key}_token_id": size} for key in ("bos", "eos", "eot")]
    cases += [{f"tokenizer.ggml.add_{key}_token": value} for key in ("bos", "eos", "sep") for value in (True, False)]
    cases += [{"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": True, "tokenizer.ggml.bos_token_id": mine}]
    cases += [{"tokenizer.ggml.pre": pre} for pre in (None, "default", "gpt-2", "llama-bpe", "qwen2", "smollm")]
    cases += [{"tokenizer.ggml." + key: value} for key, value in {
        "add_space_prefix": False, "remove_extra_whitespaces": True, "token_type_count": 2, "normalizer.lowercase": True,
        "normalizer.strip_accents": True, "token_type": None, "suppress_tokens": [5]}.items()]
    cases += [{"tokenizer.ggml.merges" if name == "gpt2" else "tokenizer.ggml.tokens": None}, {"tokenizer.rwkv.world": "a"},
              {"tokenizer.chat_template": "{{ messages[0]['content'] }}"}]
    # <|end|> ends a message only, where a call ends a text; an empty token is nothing's
    tokens = vocabularies[name]["tokenizer.ggml.tokens"]
    cases += [{"tokenizer.ggml.tokens": ["<|return|>" if t == "<|mine|>" else t for t in tokens]},
              {"tokenizer.ggml.tokens": ["" if t == "<|mine|>" else t for t in tokens]}]
    tokenizers += [{"vocabulary": name, "keys": keys, "llama_cpp": tokenized(name, keys)} for keys in [{}] + cases]

lines = lambda rows: "[\n" + ",\n".join(json.dumps(row) for row in rows) + "]"
out.write_text("{" + ",\n".join([f'"llama_cpp": {json.dumps(llama_cpp.__version__)}', f'"ids": {ids}', f'"texts": {json.dumps(texts)}',
                                 f'"families": {json.dumps(families)}', f'"keys": {json.dumps({f: base_keys(f) for f in families})}',
                                 f'"vocabulary": {json.dumps(vocabulary)}', f'"vocabularies": {json.dumps(vocabularies)}',
                                 f'"bases": {json.dumps(bases)}', f'"models": {lines(models)}',
                                 f'"tokenizers": {lines(tokenizers)}']) + "}\n")
print(out, out.stat().st_size, "bytes:", len(models), "models,", len(tokenizers), "tokenizers")
