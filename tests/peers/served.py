"""A server of `inkling serve` for the scripts of this folder, and a small chat model for it: nothing but Python's library.

    with Served("build/inkling", ["stories=tests/reference/greedy_gpt2"]) as url: ...
"""
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORIES = ROOT / "tests/reference/greedy_gpt2"
CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
          "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Served:
    def __init__(self, program, models, flags=()):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [str(program), "serve", "--port", str(self.port), *flags]
        for model in models:
            command += ["--model", str(model)]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stderr=self.log)

    def __enter__(self):
        for _ in range(6000):
            try:
                if urllib.request.urlopen(self.url + "/health").status == 200:
                    return self
            except OSError:
                time.sleep(0.01)
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with {self.process.returncode}")
        raise SystemExit("the server does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        if self.process.wait() != 143:  # also what a sanitizer finds
            self.log.seek(0)
            raise SystemExit(f"the server ended with {self.process.returncode}: {self.log.read().decode()[-10000:]}")

    def memory(self):
        """Resident kilobytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def make_chat_folder(folder):
    """GPT-2 of random weights over the stories' tokenizer, with ChatML's marks as tokens."""
    folder = pathlib.Path(folder)
    os.makedirs(folder, exist_ok=True)
    config = json.loads((STORIES / "config.json").read_text())
    config["vocab_size"] = V = 813
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((STORIES / "tokenizer.json").read_text())
    for name in ("<|im_start|>", "<|im_end|>"):
        tokenizer["added_tokens"].append({"id": 811 + (name == "<|im_end|>"), "content": name, "single_word": False,
                                          "lstrip": False, "rstrip": False, "normalized": False, "special": True})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast",
                                                              "chat_template": CHATML}))
    C, T = config["n_embd"], config["n_positions"]
    shapes = {"wte.weight": (V, C), "wpe.weight": (T, C), "ln_f.weight": (C,), "ln_f.bias": (C,)}
    for i in range(config["n_layer"]):
        for name, shape in {"ln_1": (C,), "ln_2": (C,), "attn.c_attn": (C, 3 * C), "attn.c_proj": (C, C),
                            "mlp.c_fc": (C, 4 * C), "mlp.c_proj": (4 * C, C)}.items():
            shapes[f"h.{i}.{name}.weight"] = shape
            shapes[f"h.{i}.{name}.bias"] = shape[-1:]
    rng, header, parts, at = random.Random(1), {}, [], 0
    for name, shape in shapes.items():
        n = shape[0] * (shape[1] if len(shape) > 1 else 1)
        data = struct.pack(f"<{n}f", *(0 if name.endswith("bias") else rng.gauss(0, 0.2) for _ in range(n)))
        header["transformer." + name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    return folder
