"""States inside models, captured and patched, against transformers' hidden_states, for the folders of tests/reference:

    python tests/peers/states.py        (the module; torch, transformers)
"""
import pathlib
import sys

import inkling
import numpy as np
import torch
import transformers

REFERENCE = pathlib.Path(__file__).resolve().parent.parent / "reference"
folders = [REFERENCE / name for name in ("gpt2_tiny", "nanochat_tiny", "llama_tiny", "llama_tiny_tied")]
folders += sorted((REFERENCE / "families").iterdir())


def difference(ours, theirs):
    """The largest, relative to the largest of theirs if that is above 1."""
    theirs = theirs.detach().numpy()
    return np.abs(ours.numpy() - theirs).max() / max(1, np.abs(theirs).max())


worst = 0
for folder in folders:
    model = inkling.Model.from_pretrained(folder)
    peer = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    n = model.config["n_layer"]
    ids = np.random.default_rng(1).integers(model.config["vocab_size"], size=(2, model.config["block_size"]))
    outputs = [f"layers.{i}.output" for i in range(n)]
    _, states = model.run(ids, capture=["layers.0.input", *outputs, "final"])
    theirs = peer(torch.tensor(ids), output_hidden_states=True).hidden_states
    names = ["layers.0.input", *outputs[:-1], "final"]  # transformers' last one is behind the last norm
    errors = [difference(states[name], state) for name, state in zip(names, theirs, strict=True)]

    # a layer's output at one position, replaced by hand in PyTorch
    given = np.random.default_rng(2).normal(size=model.config["n_embd"]).astype(np.float32)
    stack = next(m for m in peer.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == n)

    def replace(module, arguments, output):
        x = (output[0] if isinstance(output, tuple) else output).clone()
        x[:, 3] = torch.tensor(given)
        return (x, *output[1:]) if isinstance(output, tuple) else x

    hook = stack[0].register_forward_hook(replace)
    logits, _ = model.run(ids, patch={outputs[0]: (3, given)})
    errors.append(difference(logits, peer(torch.tensor(ids)).logits))
    hook.remove()
    print(f"{folder.name:16} {max(errors):.1e}")
    worst = max(worst, *errors)
sys.exit(worst > 1e-5)
