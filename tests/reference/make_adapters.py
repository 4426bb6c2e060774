"""Makes adapters/: low-rank adapters for small model folders, written by PEFT, and the numbers that it computes with them.

    python tests/reference/make_adapters.py [NAME...]        (torch, transformers, peft)

expected.json holds the logits of two rows of tokens, those of the merged model, the losses of 15 steps of AdamW on a text,
each before its update, and how far the adapters' matrices are from zero after them.

    python tests/reference/make_adapters.py --compare FOLDER TOKENS        opens a folder that Inkling wrote

prints the logits of the last token, and after merging; TOKENS are ids separated by commas.
"""
import json
import os
import pathlib
import sys

import peft
import torch
import transformers

from tiny_models import characters, digits, losses_of

here = pathlib.Path(__file__).parent
# name: model folder, settings
cases = {
    "llama": ("llama_tiny", dict(r=4, lora_alpha=8, target_modules="all-linear")),
    "qwen3": ("families/qwen3", dict(r=3, lora_alpha=5, use_rslora=True, target_modules=["q_proj", "v_proj", "down_proj"])),
    "gpt2": ("gpt2_tiny", dict(r=4, lora_alpha=16, target_modules=["c_attn", "mlp.c_proj"])),
    "gpt_neox": ("families/gpt_neox", dict(r=2, lora_alpha=4, target_modules="all-linear")),
    "llama_head": ("llama_tiny", dict(r=2, lora_alpha=3, target_modules=["lm_head", "k_proj"])),
    # layers with another rank or alpha; PEFT writes the keys in alphabetical order, and the first that matches decides
    "patterns": ("llama_tiny", dict(r=4, lora_alpha=8, target_modules="all-linear",
                                    rank_pattern={r"layers\.0\..*": 3, "q_proj": 2, "self_attn.(k|v)_proj": 5},
                                    alpha_pattern={"1.mlp.up_proj": 64, "[kq]_proj|down_proj": 2.5, "model.layers.0.self_attn.v_proj": 0})),
    "patterns_gpt2": ("gpt2_tiny", dict(r=4, lora_alpha=16, use_rslora=True, target_modules=["c_attn", "mlp.c_proj"],
                                        rank_pattern={"c_attn": 2}, alpha_pattern={"h.0.mlp.c_proj": 3, "attn.c_attn": 6})),
    # beside these, PEFT writes the tables' own weights
    "tables": ("llama_tiny", dict(r=2, lora_alpha=3, target_modules=["embed_tokens", "lm_head", "q_proj"])),
    "tied_tables": ("llama_tiny_tied", dict(r=3, lora_alpha=4, target_modules=["embed_tokens", "lm_head", "k_proj"])),
    "tied_table": ("llama_tiny_tied", dict(r=3, lora_alpha=4, target_modules=["embed_tokens"])),
}


def stepped(model, batch):
    """In float64: one row of one text, AdamW with decay."""
    model = model.double()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1)
    losses = losses_of(model, optimizer, batch, 15)
    norms = {n.removeprefix("base_model.model.").replace(".default", ""): float(f"{p.norm():.8g}")
             for n, p in model.named_parameters() if p.requires_grad}
    return losses, norms


def make(name, base, settings):
    folder = here / "adapters" / name
    torch.manual_seed(sum(map(ord, name)))
    load = lambda: transformers.AutoModelForCausalLM.from_pretrained(here / base, dtype=torch.float32).eval()
    model = peft.get_peft_model(load(), peft.LoraConfig(task_type="CAUSAL_LM", **settings))
    with torch.no_grad():
        for n, p in model.named_parameters():
            if "lora_" in n:
                p += 0.2 * torch.randn_like(p)
    model.peft_config["default"].base_model_name_or_path = os.path.relpath(here / base, folder)
    model.save_pretrained(folder, save_embedding_layers="auto" if "table" in name or "tied" in name else False)
    (folder / "README.md").unlink()
    model = peft.PeftModel.from_pretrained(load(), folder, is_trainable=True).eval()
    ids = torch.randint(len(characters), (2, 12))
    batch = torch.randint(len(characters), (1, 12))
    with torch.no_grad():
        logits = model(ids).logits
        merged = peft.PeftModel.from_pretrained(load(), folder).merge_and_unload()(ids).logits
    losses, norms = stepped(model, batch)
    expected = {"peft": peft.__version__, "torch": torch.__version__, "base": base, "ids": ids.tolist(), "logits": digits(logits),
                "merged": digits(merged), "batch": batch[0].tolist(), "training": losses, "norms": norms}
    (folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
    for path in sorted(folder.iterdir()):
        print(name, path.name, path.stat().st_size, "bytes")


def compare(folder, tokens):
    base = json.loads((pathlib.Path(folder) / "adapter_config.json").read_text())["base_model_name_or_path"]
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    model = peft.PeftModel.from_pretrained(model, folder)
    ids = torch.tensor([[int(t) for t in tokens.split(",")]])
    with torch.no_grad():
        print(json.dumps({"logits": model(ids).logits[0, -1].tolist(),
                          "merged": model.merge_and_unload()(ids).logits[0, -1].tolist()}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        compare(*sys.argv[2:])
    else:
        for name in sys.argv[1:] or cases:
            make(name, *cases[name])
