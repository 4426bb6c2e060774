#!/usr/bin/env python3
"""The peer of `inkling verify --replay`: are stretches of a training in PyTorch the same when they are trained again?

    python bench/torch_replay.py --preset tiny --threads 1,2,3,4,64

Trains the model of torch_gpt.py on one thread, with PyTorch's deterministic flags, and trains each stretch again with each
number of threads: it holds if losses, weights and moments are the same. Forty stretches that were changed must differ.
"""

import argparse
import copy
import hashlib
import json

import torch
from torch_gpt import GPT, PRESETS

STRETCHES, STEPS = 4, 8


class Run:
    """A training of which any stretch can be trained again: step i has its own batch, a function of (seed, i)."""

    def __init__(self, preset):
        self.T, self.B, self.vocabulary = PRESETS[preset][3:]
        self.order = torch.arange(self.B)
        self.tokens = torch.randint(0, self.vocabulary, (20_000,), generator=torch.Generator().manual_seed(1))
        self.seed, self.clip, self.left_out = 1, 1.0, None
        torch.manual_seed(0)
        self.model = GPT(*PRESETS[preset][:4], self.vocabulary)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)

    def places(self, step):
        return torch.randint(len(self.tokens) - self.T, (self.B,),
                             generator=torch.Generator().manual_seed(1000 * self.seed + step))

    def train(self, first):
        """Trains a stretch; returns its losses and the hash at its end."""
        losses = []
        for step in range(first, first + STEPS):
            if step == self.left_out:
                continue
            windows = torch.stack([self.tokens[i : i + self.T + 1] for i in self.places(step)[self.order]])
            loss = self.model(windows[:, :-1], windows[:, 1:])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()
            losses.append(loss.item())
        end = hashlib.sha256()
        for p in self.model.parameters():
            for values in (p, *(self.optimizer.state[p][key] for key in ("exp_avg", "exp_avg_sq"))):
                end.update(values.detach().numpy().tobytes())
        return losses, end.hexdigest()

    def kept(self):
        return copy.deepcopy((self.model.state_dict(), self.optimizer.state_dict()))

    def again(self, kept, first, change=lambda run, step: None):
        self.model.load_state_dict(kept[0])
        self.optimizer.load_state_dict(copy.deepcopy(kept[1]))
        change(self, first)
        return self.train(first)


def one_ulp(values):
    numbers = values.detach().view(-1)
    numbers[7] = torch.nextafter(numbers[7], 2 * numbers[7] + 1)


def group(key, change):
    return lambda run, step: run.optimizer.param_groups[0].update({key: change(run.optimizer.param_groups[0][key])})


def up(number):
    return number * (1 + 2**-23)


def another_token(run, step):
    at = run.places(step)[0] + 1
    run.tokens[at] = (run.tokens[at] + 1) % run.vocabulary


CHANGES = {
    "a weight, by one ulp": lambda run, step: one_ulp(next(run.model.parameters())),
    "a gain, by one ulp": lambda run, step: one_ulp(run.model.ln_f.weight),
    "the order of a batch": lambda run, step: setattr(run, "order", run.order.flip(0)),
    "the seed of the batches": lambda run, step: setattr(run, "seed", 2),
    "a token of the text": another_token,
    "the learning rate, by one ulp": group("lr", up),
    "beta1": group("betas", lambda betas: (up(betas[0]), betas[1])),
    "weight decay": group("weight_decay", lambda decay: 1.01 * decay),
    "the clipping": lambda run, step: setattr(run, "clip", 0.1),
    "a step left out": lambda run, step: setattr(run, "left_out", step + 3),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=list(PRESETS)[:3], default="tiny")
    parser.add_argument("--threads", default="1,2,3,4,64")
    args = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    torch.backends.mkldnn.deterministic = True
    torch.set_num_threads(1)
    run, begins, recorded = Run(args.preset), [], []
    for first in range(0, STRETCHES * STEPS, STEPS):
        begins.append(run.kept())
        recorded.append(run.train(first))
    changed = []
    for name, change in CHANGES.items():
        for i, begin in enumerate(begins):
            changed.append((name, i, Run(args.preset).again(begin, i * STEPS, change)))
    for threads in map(int, args.threads.split(",")):
        torch.set_num_threads(threads)
        again = [run.again(begin, i * STEPS) for i, begin in enumerate(begins)]
        differing = [next((j for j, (x, y) in enumerate(zip(a[0], b[0])) if x != y), STEPS - 1) + 1
                     for a, b in zip(again, recorded) if a != b]
        same = [f"{name}, steps {STEPS * i} to {STEPS * (i + 1)}" for name, i, end in changed if again[i] == end]
        print(json.dumps({"peer": "torch " + torch.__version__, "preset": args.preset, "threads": threads,
                          "stretches": STRETCHES, "hold": STRETCHES - len(differing),
                          "first_step_that_differs": min(differing, default=None), "changed": len(changed),
                          "changed_that_hold": same}), flush=True)


if __name__ == "__main__":
    main()
