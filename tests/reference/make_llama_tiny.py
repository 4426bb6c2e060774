"""Makes llama_tiny/ and llama_tiny_tied/: model folders written by transformers and tokenizers, and the numbers that they
compute from them.

    python tests/reference/make_llama_tiny.py        (torch, transformers, tokenizers)

Both have 4 heads over 2 of keys and values, and a base of rotary angles of their own. llama_tiny has a head of its own;
llama_tiny_tied has the token table for a head, heads wider than the width over their number, and biases in attention.
expected.json holds the logits of two rows of tokens, the loss of one text and its token ids, a greedy text, and the
gradient of that loss (the norm of each parameter's).
"""
import json
import pathlib

import tokenizers
import torch
import transformers

characters = "\n !,.abdehilnorstuwy\u00e9"
digits = lambda t: [float(f"{x:.8g}") for x in t.flatten().tolist()]


def make(name, seed, **changes):
    folder = pathlib.Path(__file__).with_name(name)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(vocab_size=len(characters), max_position_embeddings=12, hidden_size=24,
                                      intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=None,
                                      rope_parameters={"rope_type": "default", "rope_theta": 500.0}, **changes)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for n, p in model.named_parameters():  # far from the initial values, so that every weight counts
            p += torch.randn_like(p) * (1.0 if "embed" in n or "lm_head" in n else 0.3)
    model.save_pretrained(folder)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={c: i for i, c in enumerate(characters)}, merges=[]))
    tokenizer.decoder = tokenizers.decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.randint(len(characters), (2, 12))
    text = "hello, world\u00e9!\n"[:12]
    encoded = tokenizer.encode(text).ids
    batch = torch.tensor([encoded])
    loss = model(batch, labels=batch).loss
    loss.backward()
    with torch.no_grad():
        logits = model(ids).logits
        greedy = model.generate(batch[:, :3], attention_mask=torch.ones(1, 3), max_new_tokens=9, do_sample=False, pad_token_id=0)
    expected = {"transformers": transformers.__version__, "torch": torch.__version__, "ids": ids.tolist(),
                "logits": digits(logits), "text": text, "encoded": encoded, "loss": loss.item(),
                "greedy": greedy[0].tolist(),
                "gradient_norms": {n: float(f"{p.grad.norm():.8g}") for n, p in model.named_parameters()}}
    (folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
    for path in sorted(folder.iterdir()):
        print(name, path.name, path.stat().st_size, "bytes")


make("llama_tiny", 7)
make("llama_tiny_tied", 8, tie_word_embeddings=True, head_dim=8, attention_bias=True)
