"""Public calls on tensors that threads share, and arrays that NumPy writes to between forward and backward."""
import itertools
import threading

import inkling
import numpy as np
import pytest

ONCE = np.array([4, 32, 108], np.float32)  # d sum(w^4) / dw at 1, 2, 3


class Shared:
    def __init__(self):
        self.w = inkling.Tensor([1.0, 2.0, 3.0], requires_grad=True)
        self.h = self.w * self.w
        self.y = (self.h * self.h).sum()
        self.optimizer = inkling.optim.SGD([self.w], 0.0)


def multiple(gradient):
    if gradient is None:
        return 0
    n = gradient[0] / ONCE[0]
    assert n == int(n) and (gradient == n * ONCE).all(), gradient
    return n


def own(s):
    h = s.w * s.w
    (h * h).sum().backward()


def switch(s):
    x = s.h.detach()
    x.requires_grad = True
    (x * 2).sum().backward()
    assert (x.grad == 2).all()


CALLS = {
    "backward": lambda s: s.y.backward(),
    "backward, kept": lambda s: s.y.backward(keep_graph=True),
    "backward of its own graph": own,
    "grad()": lambda s: multiple(inkling.grad(s.y, s.w, retain_graph=True)[0].numpy()),
    "grad(create_graph)": lambda s: multiple(inkling.grad(s.y, s.w, create_graph=True)[0].numpy()),
    "zero_grad": lambda s: s.w.zero_grad(),
    "grad": lambda s: multiple(s.w.grad),
    "retain_grad": lambda s: (s.h.retain_grad(), s.h.grad, s.h.zero_grad()),
    "on_grad": lambda s: (s.w.on_grad(lambda dy: None), s.h.on_grad(lambda dy: None)),
    "to_dot": lambda s: inkling.to_dot(s.y),
    "optimizer": lambda s: s.optimizer.step(),
    "clip_grad_norm": lambda s: inkling.optim.clip_grad_norm([s.w], 1e9),
    "requires_grad": switch,
    "numpy": lambda s: (s.y.item(), repr(s.h), (s.h.detach() + s.w.detach()).numpy().sum()),  # of its own memory
}
ADDS = ("backward", "backward, kept", "backward of its own graph")
EXPECTED = ("is being run now", "already run and released", "has a hook of on_grad()")


@pytest.mark.parametrize("first,second", list(itertools.combinations_with_replacement(CALLS, 2)))
def test_two_threads(first, second):
    rounds = [Shared() for _ in range(10)]
    added = [[], []]
    wrong = []
    start = threading.Barrier(2)

    def work(t, name):
        for s in rounds:
            start.wait()
            try:
                CALLS[name](s)
                added[t].append(name in ADDS)
            except inkling.Error as error:
                added[t].append(0)
                if not any(text in str(error) for text in EXPECTED):
                    wrong.append(error)
            except BaseException as error:
                added[t].append(0)
                wrong.append(error)

    threads = [threading.Thread(target=work, args=x) for x in ((0, first), (1, second))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    for s, a, b in zip(rounds, *added):
        found = multiple(s.w.grad)
        assert found <= a + b if "zero_grad" in (first, second) else found == a + b


def test_hook_that_runs_backward_through_its_own_leaf():
    w = inkling.Tensor([1.0, 2.0], requires_grad=True)
    w.on_grad(lambda dy: w.sum().backward())
    with pytest.raises(inkling.Error, match="a hook of a leaf runs backward through that leaf"):
        (w * 2).sum().backward()


@pytest.mark.parametrize("instead", [0, 10**9])
def test_arrays_that_change_before_backward(instead):
    w = inkling.Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    ids, mask = np.array([2, 0, 2], np.int32), np.array([[True], [False], [True]])  # ops share their memory
    y = inkling.where(mask, inkling.embedding(ids, w), w * w).sum()
    ids[:], mask[:] = instead, False
    y.backward()
    assert np.array_equal(w.grad, [[0, 0], [6, 8], [2, 2]])
