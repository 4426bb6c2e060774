import gc
import weakref

import inkling
import numpy as np
import pytest
from conftest import another_thread
from inkling import Tensor


def test_shares_numpys_memory():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = Tensor(array)
    array[0, 0] = 7
    assert x[0, 0].item() == 7
    assert np.shares_memory(x.numpy(), array)
    x.data[1, 2] = -1
    assert array[1, 2] == -1
    columns = Tensor(array[:, ::2])  # strides are shared, too
    array[1, 0] = 5
    assert columns[1, 0].item() == 5
    assert not x.numpy().flags.writeable


def test_keeps_the_array_as_long_as_it_needs_it():
    array = np.ones(4, np.float64)
    gone = weakref.ref(array)
    x = Tensor(array)
    view = x.reshape((2, 2)).numpy()
    del array, x
    gc.collect()
    assert gone() is not None and view.sum() == 4
    del view
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "data, dtype",
    [
        ([1, 2], "float32"), (3, "float32"), (np.arange(2), "float32"), (np.ones(2), "float64"),
        (np.ones(2, np.float16), "float32"), (np.float64(1), "float64"), (np.ones(2, ">f4"), "float32"),
    ],
)
def test_dtype(data, dtype):
    assert Tensor(data).dtype == dtype
    assert np.array_equal(Tensor(data).numpy(), np.asarray(data, dtype))


def test_what_cannot_be_shared_is_copied():
    backwards = np.arange(4.0)[::-1]
    assert np.array_equal(Tensor(backwards).numpy(), [3, 2, 1, 0])
    frozen = np.ones(2, np.float32)
    frozen.flags.writeable = False
    x = Tensor(frozen)
    x.data[0] = 5
    assert frozen[0] == 1
    with pytest.raises(TypeError, match="expected numbers"):
        Tensor(["a"])


@pytest.mark.parametrize(
    "key",
    [
        0, -1, (1, 2), slice(1, 3), (slice(None), 1), (..., 0), None, (None, 1), (None, ..., 0),
        (slice(0, 4, 2), ..., slice(-2, None)), slice(None, None, -1), (..., slice(4, 0, -2)), True, np.False_,
        (slice(None), True, 1), (..., False), [0, 3], ([[0, -1], [2, 2]],), (1, [0, 2]),
        (slice(None), np.array([2, 0]), slice(1, 3)), (..., [1, 4]), np.array([True, False, True, False]),
        [False, True, True, False], (..., np.arange(15).reshape(3, 5) % 2 == 0),
        (np.arange(12).reshape(4, 3) % 2 == 0, 1), ([0, 3], [2, 1]), ([[0], [1]], slice(1, None), [4, 0]),
        (1, slice(None), [0, 2]), (None, [0, 1], np.array([True, False, True])),
    ],
)
def test_indices(key):
    array = np.random.default_rng(0).normal(size=(4, 3, 5))
    x = Tensor(array, requires_grad=True)
    assert np.array_equal(x[key].numpy(), array[key])
    x[key].sum().backward()
    expected = np.zeros_like(array)
    np.add.at(expected, key, 1)
    assert np.array_equal(x.grad, expected)


def test_wrong_indices():
    x = Tensor([[1.0, 2.0]])
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 1 with size 2"):
        x[0, 2]
    with pytest.raises(IndexError, match="too many indices: at most 2"):
        x[0, 0, 0]
    for key in ((slice(None), [0, 2]), (0, [0, 2])):
        with pytest.raises(IndexError, match="index 2 is out of bounds for axis 1 with size 2"):
            x[key]
    with pytest.raises(inkling.Error, match="at most 16 axes are possible, got 17"):
        x[np.zeros((1,) * 17, int), 0]
    with pytest.raises(IndexError, match="a mask must have the sizes"):
        x[np.array([True, False])]
    for key in ("a", 0.5, [0.5], Tensor([0.0], requires_grad=True)):
        with pytest.raises(IndexError, match="integers, slices"):
            x[key]
    with pytest.raises(IndexError, match="single ellipsis"):
        x[..., ...]
    assert [row.shape for row in x] == [(2,)]


def test_a_new_axis():
    x = Tensor([[1.0, 2.0]])
    assert x[None].shape == (1, 1, 2)
    assert x[None, :, None].shape == (1, 1, 1, 2)
    assert Tensor(3.0)[None].shape == (1,)


def test_operators_with_numbers_and_arrays():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = Tensor(a)
    for y, expected in [
        (2 * x + 1, 2 * a + 1), (1 / x - x / 4, 1 / a - a / 4), (a - x, a - a), (x * a[0], a * a[0]), (-x, -a),
        (x @ x, a @ a), (x**2, a**2), (2**x, 2**a), (x**x, a**a), (1 - x, 1 - a), (np.float64(3) * x, 3 * a),
    ]:
        assert isinstance(y, Tensor) and np.allclose(y.numpy(), expected)
    assert np.allclose(np.exp(x), np.exp(a))
    with pytest.raises(TypeError):
        x + None


def test_comparisons_are_masks():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    x, y = Tensor(a), Tensor(a.T.copy())
    for mask, expected in [
        (x == y, a == a.T), (x != y, a != a.T), (x < 2, a < 2), (x <= a[0], a <= a[0]), (2 < x, a > 2),
        (x >= y, a >= a.T),
    ]:
        assert mask.dtype == bool and np.array_equal(mask, expected)
    assert np.array_equal(inkling.where(x > 2, x, 0.0).numpy(), [[0, 0], [3, 4]])
    assert (x == None) is False and (x != None) is True and x != "x"  # noqa: E711
    assert {x: 1}[x] == 1  # hashed by identity
    with pytest.raises(TypeError):
        x < "x"


def test_truth():
    assert not Tensor([0.0]) and Tensor(-1) and not Tensor([[0.0]])
    for several in (Tensor([1.0, 1.0]), Tensor.zeros((0,))):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(several)


def test_numpy_functions_do_not_drop_a_graph():
    x = Tensor([1.0, 4.0], requires_grad=True)
    for drops in (np.sqrt, np.asarray, np.exp, lambda t: np.add(np.ones(2), t)):
        with pytest.raises(TypeError, match="detach"):
            drops(x * 2)
    assert np.array_equal(np.sqrt(x.detach()), [1, 2]) and np.array_equal(x.numpy(), [1, 4])


def test_a_cast_does_not_drop_a_graph():
    x = Tensor([1.0, 4.0], requires_grad=True)
    for drops in (lambda: (x * 2).astype("float64"), lambda: x.astype("float64"), lambda: Tensor(x * 2)):
        with pytest.raises(TypeError, match="drop the graph.*detach"):
            drops()
    (x * 2).astype("float32").sum().backward()  # it already has that dtype
    assert np.array_equal(x.grad, [2, 2])
    y = x.detach().astype("float64")
    assert y.dtype == "float64" and Tensor(x.detach()).numpy().sum() == y.sum().item() == 5


def test_a_tensor_with_a_graph_is_no_plain_number():
    x, one = Tensor([1.0, 4.0]), Tensor(1.0, requires_grad=True)
    for drops in (lambda: x.leaky_relu(one), lambda: x.pad((1, 1), one), lambda: Tensor.full((2,), one)):
        with pytest.raises(TypeError):
            drops()
    assert np.array_equal(x.pad((1, 0), one.detach()).numpy(), [1, 1, 4])
    assert np.array_equal(x.pad((1, 0), np.float32(2)).numpy(), x.pad((1, 0), 2).numpy())
    assert float(one) == int(one) == 1 and f"{one:.2f}" == "1.00" and f"{one}" == str(one)


def test_names_of_numpy():
    a = np.arange(6.0).reshape(2, 3) - 2
    x = Tensor(a)
    assert np.array_equal(abs(x), abs(a)) and np.array_equal(x.T, a.T)
    assert x.reshape(3, 2).shape == x.reshape((3, -1)).shape == (3, 2) and x.reshape(6).shape == (6,)
    assert Tensor(1.0).cumsum(0).shape == ()
    for y, expected in [
        (x.sum(axis=0, keepdims=True), a.sum(0, keepdims=True)), (x.mean(dim=(0, 1)), a.mean()),
        (x.min(axis=1, keepdim=True), a.min(1, keepdims=True)),
        (x.max(axis=-1, keepdim=True), a.max(-1, keepdims=True)),
        (x.amax(dim=-1, keepdim=True), a.max(-1, keepdims=True)),
        (x.max(dim=-1, keepdim=True).values, a.max(-1, keepdims=True)), (inkling.min(x, 0)[0], a.min(0)),
        (inkling.concatenate([x, x], dim=1), np.concatenate([a, a], 1)), (x.softmax(dim=0).sum(dim=0), np.ones(3)),
        (x.unsqueeze(dim=0).squeeze(dim=0), a), (x.flip(dim=1), a[:, ::-1]),
    ]:
        assert np.allclose(y.numpy(), expected) and y.shape == np.shape(expected)
    assert np.array_equal(x.argmax(dim=1), a.argmax(1))
    with pytest.raises(TypeError):
        x.sum(axis=0, dim=0)


# The spelling says whose meaning it is where PyTorch's and NumPy's differ.
def test_axis_is_numpys_and_dim_is_pytorchs():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = Tensor(a)
    for name, n in (("var", 3), ("std", 3**0.5)):
        numpys, pytorchs = getattr(a, name)(1), getattr(np, name)(a, 1, ddof=1)
        assert np.allclose(getattr(x, name)(axis=1).numpy(), numpys)
        assert np.allclose(getattr(x, name)(axis=1, keepdims=True).numpy(), numpys[:, None])
        for y in (getattr(x, name)(dim=1), getattr(x, name)(1), getattr(x, name)(axis=1, correction=1)):
            assert np.allclose(y.numpy(), pytorchs)
        assert np.allclose(getattr(inkling, name)(x, dim=1, keepdim=True).numpy(), pytorchs[:, None])
    for name in "sum mean max min prod logsumexp".split():
        op = getattr(x, name)
        assert np.array_equal(op(axis=()).numpy(), a) and np.array_equal(op(axis=(), keepdims=True).numpy(), a)
        assert np.array_equal(op(dim=()).numpy(), op().numpy()) and np.array_equal(op(axis=None).numpy(), op().numpy())
    assert np.array_equal((-x).norm(axis=()).numpy(), a) and not x.var(axis=()).numpy().any()
    one = Tensor(a[:, None])
    assert one.squeeze(axis=()).shape == one.squeeze(dim=()).shape == (2, 1, 3, 4) and one.squeeze().shape == (2, 3, 4)
    for pieces, expected in [
        (x.split(2, axis=2), np.split(a, 2, 2)), (inkling.split(x, 2), [a]), (x.split(2, 1), [a[:, :2], a[:, 2:]]),
        (x.split(2, dim=1), [a[:, :2], a[:, 2:]]), (x.split(5, dim=-1), [a]),
        (x.split([1, 2], dim=1), [a[:, :1], a[:, 1:]]),
    ]:
        assert len(pieces) == len(expected) and all(np.array_equal(p, e) for p, e in zip(pieces, expected))
    assert np.array_equal(x.tile((2, 1, 3)).numpy(), np.tile(a, (2, 1, 3)))
    assert np.array_equal(x.repeat(2, 1, 3).numpy(), np.tile(a, (2, 1, 3)))
    assert np.array_equal(x.repeat(2, axis=1).numpy(), a.repeat(2, 1))
    for y in (x.var(0, False), x.var(dim=0, unbiased=False), x.var(axis=0)):
        assert np.array_equal(y.numpy(), a.var(0))
    assert x.var(False).item() == pytest.approx(a.var())
    values, ids = x.max(1)
    assert np.array_equal(values.numpy(), a.max(1)) and np.array_equal(ids, a.argmax(1))
    assert one.squeeze(dim=2).shape == one.shape
    with pytest.raises(ValueError, match="size 1"):
        one.squeeze(axis=2)
    for refused in (
        lambda: x.repeat(2), lambda: x.repeat(2, 1), lambda: x.split([1, 2], axis=1), lambda: x.sum(axis=True),
        lambda: x.sum(Tensor(1.0)), lambda: x.reshape(Tensor(24.0)),
    ):
        with pytest.raises(TypeError):
            refused()


def test_a_tensor_without_axes_has_no_rows():
    with pytest.raises(TypeError, match="without axes"):
        list(Tensor(1.0))
    assert [row.item() for row in Tensor([1.0, 2.0])] == [1, 2]
    assert Tensor(1.0)[True].shape == (1,) and Tensor(1.0)[False].shape == (0,)


def test_one_of_tied_maxima_has_the_gradient():
    x = Tensor(np.ones((1, 1, 3, 4)), requires_grad=True)
    x.max_pool2d(2, 1).sum().backward()
    assert np.array_equal(x.grad[0, 0], [[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]])


def test_what_is_left_of_a_division():
    for b in (0.0, -0.0, np.inf, -np.inf, 3.0, -0.3):
        for a in (0.0, -0.0, 5.0, -5.0, np.inf, np.nan, 0.9):
            with np.errstate(all="ignore"):
                ours, numpys = (Tensor(np.array(a)) // b).item(), np.floor_divide(a, b)
            assert np.array_equal(ours, numpys, equal_nan=True)
            assert np.isnan(ours) or np.signbit(ours) == np.signbit(numpys)
    a = np.array([5.0, -5.0, 5.5, 0.3])
    b = np.array([3.0, 3.0, -2.0, 0.1])
    x, y = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
    assert np.array_equal((x % y).numpy(), a % b) and np.array_equal((x // y).numpy(), a // b)
    assert np.array_equal((x % 3).numpy(), a % 3) and np.array_equal((7 // x).numpy(), 7 // a)
    assert np.array_equal((a % y).numpy(), a % b) and not (x // y).requires_grad
    (x % y).sum().backward()
    assert np.array_equal(x.grad, np.ones(4)) and np.array_equal(y.grad, -(a // b))
    assert np.array_equal(inkling.maximum(x, 0).numpy(), np.maximum(a, 0))
    assert np.array_equal(inkling.minimum(1, y).numpy(), np.minimum(1, b))


def test_vectors_in_products():
    m, v = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    for a, b in [(m, v), (v, m.T), (v, v), (np.stack([m, m]), v), (v, np.stack([m.T, m.T]))]:
        y = Tensor(a) @ Tensor(b)
        assert y.shape == (a @ b).shape and np.allclose(y.numpy(), a @ b)
        assert inkling.gradcheck(inkling.matmul, [Tensor(a), Tensor(b)]) < 1e-6
        for product in (Tensor(a) @ b, a @ Tensor(b)):  # an array is a constant
            assert isinstance(product, Tensor) and np.array_equal(product.numpy(), y.numpy())


def test_elements_are_written():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = Tensor(a)
    x[0] = 7
    x[1, 1:] = Tensor([8, 9])
    x[x == 3] = [1]
    assert np.array_equal(a, [[7, 7, 7], [1, 8, 9]])
    w = Tensor(a.copy(), requires_grad=True)
    y = (w * x).sum()
    with pytest.raises(TypeError, match="records no graph: write x.data"):
        w[0] = 1
    with pytest.raises(TypeError, match="records no graph: pass v.detach"):
        x[0] = w[0]
    x[0] = w[0].detach()
    with pytest.raises(inkling.Error, match="mul"):  # its backward needs the old x
        y.backward()


def test_in_place_is_a_new_tensor_and_never_the_parameter():
    w = Tensor([1.0], requires_grad=True)
    y = w * 2
    before = y
    y += 1
    assert before.item() == 2 and y.item() == 3
    with pytest.raises(inkling.Error, match="write x.data"):
        w += 1


def test_backward():
    w = Tensor([[0.5, -1.0]], requires_grad=True, dtype="float64")
    (w * w).sum().backward()
    (3 * w).sum().backward()
    assert np.allclose(w.grad, 2 * w.numpy() + 3)
    w.data -= 0.1 * w.grad
    assert np.allclose(w.numpy(), [[0.1, -1.1]])
    w.zero_grad()
    assert w.grad is None
    y = w.exp()
    y.retain_grad()
    y.on_grad(lambda dy: 2 * dy)
    (y * y).sum().backward()
    assert np.allclose(y.grad, 4 * np.exp(w.numpy()))
    assert np.allclose(w.grad, 4 * np.exp(2 * w.numpy()))
    y = w.tanh()
    y.backward(dy=Tensor([[1.0, 0.0]], dtype="float64"), keep_graph=True)
    y.backward(dy=Tensor([[1.0, 0.0]], dtype="float64"))
    with pytest.raises(inkling.Error):
        y.backward(dy=Tensor([[1.0, 0.0]], dtype="float64"))


def test_a_value_that_backward_needs_is_not_overwritten():
    w = Tensor([2.0], requires_grad=True)
    y = w * w
    w.data[0] = 3
    with pytest.raises(inkling.Error, match="mul"):
        y.backward()


def test_scopes():
    w = Tensor([0.0], requires_grad=True)
    with inkling.no_grad():
        assert not (w * 2).requires_grad
    assert (w * 2).requires_grad
    with inkling.detect_anomaly(), pytest.raises(inkling.Anomaly, match="log: the first value that is not finite"):
        (w.log() * 0).sum()
    a, b = np.float32([[1.001]]), np.float32([[1.001]])
    with inkling.precision("bf16"):
        rounded = (Tensor(a) @ Tensor(b)).item()
    assert rounded == 1 and (Tensor(a) @ Tensor(b)).item() != 1
    with pytest.raises(TypeError):
        inkling.precision("fp8")


def test_errors_are_those_of_the_library():
    x = Tensor(np.zeros((2, 3), np.float32))
    with pytest.raises(
        inkling.Error, match=r"matmul: expected \(\.\.\., M, K\) and \(\.\.\., K, N\), got \(2, 3\) and \(2, 3\)"
    ):
        x @ x
    layer = inkling.nn.Linear(inkling.Generator(1), 3, 2, dtype="float64")
    for mixed in (lambda: x + x.astype("float64"), lambda: inkling.stack([x, x.astype("float64")]), lambda: layer(x)):
        with pytest.raises(TypeError, match="float32 and float64"):
            mixed()
    with pytest.raises(inkling.Error, match="exactly one element"):
        x.item()
    with pytest.raises(TypeError, match="einsum: tensors are required"):
        inkling.einsum("ij,j->i", x, np.ones(3))
    assert issubclass(inkling.BadInput, inkling.Error) and issubclass(inkling.Error, ValueError)
    assert issubclass(inkling.DTypeError, inkling.Error) and issubclass(inkling.DTypeError, TypeError)


IDS = np.zeros((2, 3), int)


@pytest.mark.parametrize(
    "op",
    [
        *(
            lambda x, op=op: getattr(x, op)(axis=2)
            for op in "sum mean max min prod logsumexp var std argmax argmin norm softmax log_softmax cumsum cumprod "
            "cummax cummin logcumsumexp sort argsort normalize flip squeeze".split()
        ),
        lambda x: x.unsqueeze(3),
        lambda x: x.permute((0, 2)),
        lambda x: x.permute((-3, 0)),
        lambda x: x.transpose(0, 2),
        lambda x: x.flatten(0, 2),
        lambda x: x.slice(2, 0, 1),
        lambda x: x.split(1, 2),
        lambda x: x.split([1, 2], 2),
        lambda x: x.repeat(2, axis=-3),
        lambda x: x.roll(1, 2),
        lambda x: x.topk(1, 2),
        lambda x: x.gather(2, IDS),
        lambda x: x.index_select(2, [0]),
        lambda x: x.scatter(2, IDS, x),
        lambda x: x.scatter_add(2, IDS, x),
        lambda x: x.unfold(2, 1),
        lambda x: x.diagonal(0, 0, 2),
        lambda x: inkling.concatenate([x, x], 2),
        lambda x: inkling.stack([x, x], 3),
    ],
)
def test_an_axis_that_is_not_there_is_an_index_error(op):
    with pytest.raises(inkling.AxisError, match="axis -?[23] must be between"):
        op(Tensor(np.ones((2, 3), np.float32)))
    assert issubclass(inkling.AxisError, IndexError) and issubclass(inkling.AxisError, inkling.Error)


def test_gradcheck_finds_wrong_gradients():
    x = Tensor(np.random.default_rng(1).normal(size=(2, 3)))
    assert inkling.gradcheck(lambda x: x.tanh(), [x]) < 1e-8
    assert inkling.gradcheck(lambda x: x.tanh() + x.detach(), [x]) > 0.1


def test_other_threads_run_while_it_computes():
    x = Tensor(np.random.default_rng(0).normal(size=(1200, 1200)).astype(np.float32))
    with another_thread() as ticks:
        for _ in range(20):
            x @ x
    assert len(ticks) > 20


def test_results_do_not_depend_on_threads():
    w = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    results = []
    for threads in (1, 2):
        inkling.set_threads(threads)
        results.append((Tensor(w) @ Tensor(w)).softmax().numpy().tobytes())
    inkling.set_threads()
    assert results[0] == results[1]


def test_graph_and_text():
    a = Tensor([[1.0, 2.0]], requires_grad=True)
    assert repr(a).startswith("Tensor (1, 2) leaf")
    assert "softmax" in inkling.to_dot(a.softmax(), [("a", a)])
    assert np.array_equal(Tensor.arange(3).numpy(), [0, 1, 2]) and np.array_equal(Tensor.full((2,), 3).numpy(), [3, 3])
    random = inkling.Generator(5)
    assert Tensor.randn((1000,), random.next()).numpy().std() == pytest.approx(1, abs=0.1)
    assert random.next_stream == 1 and 0 <= Tensor.rand((9,), random.next()).numpy().min()


def test_sizes_that_no_memory_holds_and_negative_ones_are_refused():
    for shape in [(2**62 + 1,), (2**31, 2**31), (2**64,)]:
        with pytest.raises(inkling.Error, match="too large"):
            inkling.Tensor.zeros(shape)
    with pytest.raises(inkling.Error, match="sizes of at least 0"):
        inkling.Tensor.zeros((2, -1))
