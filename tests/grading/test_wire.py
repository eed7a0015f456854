"""What crosses the border between worker and grader: plain data, exactly, and nothing else."""

import os
import resource
import threading

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.worker import wire
from autograder.worker.wire import Malformed, Opaque


def crossed(value):
    return wire.decode(msgpack.unpackb(msgpack.packb(wire.encode(value))))


PLAIN = [
    None,
    True,
    0,
    -(2**63),
    2**200,
    -(2**64),
    1.5,
    float("inf"),
    1 + 2j,
    "text",
    b"bytes",
    [],
    (),
    {},
    [1, (2.0, ["a"]), {"k": (None,), 3: [4]}],
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_data_cross_unchanged(value):
    assert crossed(value) == value
    assert type(crossed(value)) is type(value)


DTYPES = "bool int8 int16 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (1, 0, 4)], ids=str)
def test_arrays_cross_with_dtype_shape_and_values(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    result = crossed(array)
    assert (result.dtype, result.shape, type(result)) == (array.dtype, shape, np.ndarray)
    np.testing.assert_array_equal(result, array)


def test_numpy_scalars_and_odd_layouts_cross():
    assert crossed(np.float32(1.5)) == np.float32(1.5)
    assert type(crossed(np.float32(1.5))) is np.float32
    turned = np.arange(6.0).reshape(2, 3).T[::-1]
    np.testing.assert_array_equal(crossed(turned), turned)
    big_endian = np.arange(3, dtype=">i4")
    assert crossed(big_endian).dtype == np.int32
    np.testing.assert_array_equal(crossed(big_endian), big_endian)


def test_float0_crosses():
    result = crossed(np.zeros((2, 3), wire.FLOAT0))
    assert (result.dtype, result.shape) == (wire.FLOAT0, (2, 3))


class AlwaysEqual(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__
    __class__ = float


class Liar(list):
    def __len__(self):
        return 0


STRANGE = [
    (AlwaysEqual(1), "object"),
    (Liar([1]), "object"),
    (np.zeros(2).view(type("Sub", (np.ndarray,), {})), "object"),
    (np.array([None]), "ndarray"),
    (np.array(["a"]), "ndarray"),
    (np.zeros(2, "datetime64[s]"), "ndarray"),
    (ValueError("x"), "ValueError"),
    (print, "object"),
    (int, "type"),
    (type("int", (), {})(), "object"),
]


@pytest.mark.parametrize(("value", "name"), STRANGE, ids=lambda x: type(x).__name__)
def test_everything_else_becomes_an_opaque_marker(value, name):
    assert crossed([value]) == [Opaque(name)]


# The package's own arrays: a submission may have changed their class, so nothing they say of
# themselves counts, only the values that NumPy finds in them


class Ours:
    """As minijax's class: NumPy gets its values, by whatever `__array__` has become."""

    shape, dtype, size, nbytes = (2,), np.dtype("float64"), 2, 16  # what they all claim

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values() if callable(self.values) else self.values


class Theirs(Ours):
    """A subclass that a submission has made."""


def stop():
    raise RuntimeError("no values")


OF_THE_PACKAGE = {
    "honest": (Ours(np.array([1.0, 2.0])), np.array([1.0, 2.0])),
    "claims another shape": (Ours(np.zeros((3, 1))), np.zeros((3, 1))),
    "claims another dtype": (Ours(np.array([1, 2], np.int8)), np.array([1, 2], np.int8)),
    "values of a subclass": (Ours(np.ones(2).view(type("Sub", (np.ndarray,), {}))), np.ones(2)),
    "changes": (Ours(iter([np.ones(2), np.zeros(2)]).__next__), np.ones(2)),
    "objects": (Ours(np.array([None])), Opaque("ndarray")),
    "texts": (Ours(np.array(["a"])), Opaque("ndarray")),
    "no array": (Ours([1.0, 2.0]), Opaque("object")),
    "an error": (Ours(stop), Opaque("object")),
    "a class of its own": (Theirs(np.array([1.0, 2.0])), Opaque("object")),
}


@pytest.mark.parametrize("name", OF_THE_PACKAGE)
def test_of_the_packages_arrays_the_values_cross_and_no_claim(monkeypatch, name):
    monkeypatch.setattr(wire, "own_arrays", {Ours})
    value, want = OF_THE_PACKAGE[name]
    (result,) = crossed([value])
    assert type(result) is type(want)
    if isinstance(want, np.ndarray):
        assert result.dtype == want.dtype
        np.testing.assert_array_equal(result, want, strict=True)
    else:
        assert result == want


@pytest.mark.parametrize("axes", [1, 3])
def test_an_array_of_the_package_that_is_huge_is_not_written(monkeypatch, axes):
    monkeypatch.setattr(wire, "own_arrays", {Ours})
    huge = np.broadcast_to(np.zeros(()), (2**40, *[1] * (axes - 1)))  # eight bytes of memory
    with pytest.raises(Malformed):
        wire.encode(Ours(huge))


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def endless():
    value = []
    value.append(value)
    return value


TOO_MUCH = {
    "bytes": b"x" * wire.MAX_MESSAGE,
    "array": np.zeros(wire.MAX_MESSAGE // 8),
    "items": [0] * (wire.MAX_ITEMS + 1),
    "depth": nested(wire.MAX_DEPTH + 1),
    "endless": endless(),
    "integer": 1 << 100_000,
    "dict": {i: i for i in range(wire.MAX_PAIRS + 1)},
    "text": "x" * (wire.MAX_TEXT + 1),
    "axes": np.zeros((0, wire.MAX_SIZE + 1)),
    "nothing": np.broadcast_to(np.zeros((), wire.FLOAT0), (2**20, 2)),
    "texts": ["x" * wire.MAX_TEXT] * (wire.MAX_MESSAGE // wire.MAX_TEXT),
    "wide texts": ["\xe9" * wire.MAX_TEXT] * (wire.MAX_BYTES // wire.MAX_TEXT // 2 + 1),
    "arrays": [np.zeros(2**18, np.int8)] * 5,
}


NONSENSE = [
    [],
    {},
    ["?"],
    ["l", ["?"]],
    [["l"]],
    ["i", 5],
    ["i", "f" * 10_000],
    ["c", "a", "b"],
    ["d", [1]],
    ["d", [["l"], 1]],
    ["d", *[[i * (2**61 - 1), 0] for i in range(5000)]],
    ["a", "float64", [2], b"short"],
    ["a", "float64", [-1], b""],
    ["a", "float64", [2.0], b"0" * 16],
    ["a", "float64", [0] * 17, b""],
    ["a", "float64", [1 << 60, 1 << 60], b""],
    ["a", "object", [], b"12345678"],
    ["a", "float64", "x", b""],
    ["a", "float64", [1], "12345678"],
    ["s", "float64", [1], b"12345678"],
    ["a", "float0", [2], b"x"],
    ["s", "float0", [], b""],
    msgpack.ExtType(1, b"x"),
    nested(200),
]


@pytest.mark.parametrize("message", NONSENSE, ids=lambda m: repr(m)[:40])
def test_forged_values_are_refused(message):
    with pytest.raises(Malformed):
        wire.decode(message)


# What is read can be written again: a reply that the grader has taken does not trouble it later.
# With limits that are soon reached, whatever is beyond one of them is tried.
SMALL = {"MAX_BYTES": 50, "MAX_ITEMS": 12, "MAX_DEPTH": 3, "MAX_DIMENSIONS": 3, "MAX_SIZE": 9}
SMALL |= {"MAX_TEXT": 10, "MAX_PAIRS": 2, "MAX_DIGITS": 18}

sizes = st.sampled_from([0, 1, 2, 8, 9, 10])
hexadecimal = st.sampled_from(["f" * 18, "f" * 21, "-0x" + "f" * 18, "0x1" + "f" * 18, "1_1"])
plain = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
texts = st.text("a\xe9\ud800", max_size=12) | st.binary(max_size=50)


@st.composite
def arrays(draw):
    name = draw(st.sampled_from(["bool", "int8", "float64", "float0", "object"]))
    shape = draw(st.lists(sizes, max_size=4))
    itemsize = {"float64": 8, "float0": 0}.get(name, 1)
    return [draw(st.sampled_from("as")), name, shape, bytes(itemsize * int(np.prod(shape)))]


def containers(inner):
    items = st.lists(inner, max_size=4)
    pairs = st.lists(st.tuples(st.integers(0, 5), inner).map(list), max_size=4)
    return st.builds(lambda tag, x: [tag, *x], st.sampled_from("lt"), items) | pairs.map(
        lambda x: ["d", *x]
    )


leaves = plain | texts | hexadecimal.map(lambda x: ["i", x]) | arrays()
leaves |= st.sampled_from([["c", 1, 2.0], ["o", "int"], ["o", "no type"]])
MESSAGES = st.recursive(leaves, containers, max_leaves=16)


@settings(max_examples=600)
@given(MESSAGES)
def test_what_is_read_can_be_written_and_read_again(message):
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in SMALL.items():
            patch.setattr(wire, name, limit)
        try:
            value = wire.decode(message)
        except Malformed:
            return
        written = wire.encode(value)
        assert repr(wire.encode(wire.decode(written))) == repr(written)


@given(MESSAGES)
def test_what_is_written_can_be_read(message):
    try:
        value = wire.decode(message)
    except Malformed:
        return
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in SMALL.items():
            patch.setattr(wire, name, limit)
        try:
            written = wire.encode(value)
        except Malformed:
            return
        wire.decode(written)


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_too_large_is_neither_written_nor_read(monkeypatch, name):
    with pytest.raises(Malformed):
        wire.encode(TOO_MUCH[name])
    if name == "endless":
        return
    with monkeypatch.context() as patch:
        for limit in SMALL:
            patch.setattr(wire, limit, 1 << 60)
        message = wire.encode(TOO_MUCH[name])
    with pytest.raises(Malformed):
        wire.decode(message)


def test_booleans_of_forged_bytes_are_booleans():
    assert wire.decode(["a", "bool", [2], b"\x07\x00"]).view(np.uint8).tolist() == [1, 0]


def test_opaque_markers_name_built_in_types_only():
    assert wire.decode(["o", "the probe's text"]) == Opaque("object")


def received(data):
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        return wire.receive(reading)
    finally:
        os.close(reading)


def test_messages_cross_a_pipe():
    reading, writing = os.pipe()
    wire.send(writing, [1, "call", b"x"])
    os.close(writing)
    assert wire.receive(reading) == [1, "call", b"x"]
    with pytest.raises(EOFError):
        wire.receive(reading)
    os.close(reading)


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\x02\xc1\xc1", b"\0\0\0\1\x81"])
def test_broken_messages_are_refused(data):
    with pytest.raises(Malformed):
        received(data)


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\x09short"])
def test_half_messages_are_the_end(data):
    with pytest.raises(EOFError):
        received(data)


def test_deeply_nested_messages_are_refused():
    text = b"\x91" * 50_000 + b"\x90"
    with pytest.raises(Malformed):
        received(len(text).to_bytes(4, "big") + text)


def test_many_small_lists_do_not_fill_the_graders_memory(monkeypatch):
    """Read to the end, these 2 MB would take 130."""
    block = b"\xdc\xff\xff" + b"\x90" * 65535
    text = b"\xdc\x00\x1f" + block * 31
    reading, writing = os.pipe()
    threading.Thread(target=_write, args=(writing, len(text).to_bytes(4, "big") + text)).start()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    monkeypatch.setattr(wire, "MAX_PARTS", 1 << 19)
    with pytest.raises(Malformed, match="too many parts"):
        wire.receive(reading)
    os.close(reading)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 80_000  # KiB


def _write(descriptor, data):
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


@pytest.mark.slow
def test_the_largest_value_that_can_be_written_can_be_read():
    value = [np.zeros((0, 1, 2, 3))] * (wire.MAX_ITEMS - 1)
    text = msgpack.packb([1, "value", wire.encode(value)])
    reading, writing = os.pipe()
    threading.Thread(target=_write, args=(writing, len(text).to_bytes(4, "big") + text)).start()
    assert len(wire.decode(wire.receive(reading)[2])) == len(value)
    os.close(reading)
