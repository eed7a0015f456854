"""How values cross the border between the isolated worker and the grader: as data, never as code.

A message is a msgpack text behind its length. A value is written by its exact type: plain Python
data, NumPy arrays of an allowed dtype, and the arrays of the package under test, which cross as
NumPy's. Everything else becomes an opaque marker, so a class of
the submission's own never gets to say how it is written, read or compared. Reading checks the sizes
before it believes them, and executes nothing.

The worker runs this file too, alone with the student's tree: import nothing of the repository here.
"""

import builtins
import functools
import math
import os
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

# The limits of what crosses: `_Limited` holds writer and reader to the same ones.
MAX_MESSAGE = 2 << 20  # bytes of one message; the longest that a suite needs has 32 KB
MAX_BYTES = MAX_MESSAGE // 2  # of texts, bytes and arrays in it
MAX_ITEMS = 100_000  # values in one message, containers included
MAX_PARTS = 24 * MAX_ITEMS  # lists and their entries in a message: an array has 6 and its shape
MAX_DEPTH = 40  # containers within containers
MAX_DIMENSIONS = 16
MAX_SIZE = MAX_BYTES  # of an axis, even if others are empty; and elements of an array, even of none
MAX_TEXT = 100_000  # characters of a text
MAX_ERROR = 2_000  # characters of an exception's message
MAX_PAIRS = 1_000  # entries of a dict: more could be made to collide
MAX_DIGITS = 2_000  # hexadecimal digits of an integer that needs more than 64 bits

FLOAT0 = np.dtype([("float0", np.void, 0)])  # the tangents of integers, as in JAX
_STRICT: dict[str, Any] = {"max_map_len": 0, "max_ext_len": 0, "max_array_len": MAX_ITEMS + 8}
DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
} | {"float0": FLOAT0}


class Malformed(Exception):
    """A message that is not what this module writes, or that is too large."""


@dataclass(frozen=True)
class Opaque:
    """Stands for a value that is not plain data; `name` is its type's, if that is a built-in."""

    name: str


# ------------------------------------------------------------------------------------------
# Messages


def send(descriptor: int, message: Any) -> None:
    """Write one message of msgpack's own types."""
    text = msgpack.packb(message)
    if len(text) > MAX_MESSAGE:
        raise Malformed("The message is too large.")
    data = memoryview(len(text).to_bytes(4, "big") + text)
    while data:
        data = data[os.write(descriptor, data) :]


def receive(descriptor: int) -> Any:
    """Read one message. Raises EOFError where the other side is gone, Malformed for nonsense."""
    return unpack(receive_text(descriptor))


def receive_text(descriptor: int) -> bytes:
    """The bytes of one message. Raises as `receive` does."""
    size = int.from_bytes(_read(descriptor, 4), "big")
    if size > MAX_MESSAGE:
        raise Malformed("The message is too large.")
    return _read(descriptor, size)


def unpack(text: bytes) -> Any:
    """The message that these bytes are. Raises Malformed for nonsense."""
    try:
        return msgpack.unpackb(text, list_hook=_Counter().count, **_STRICT)
    except (ValueError, RecursionError, msgpack.exceptions.UnpackException) as error:
        raise Malformed("The message is not msgpack.") from error


class _Counter:
    """Counts the values of a message while it is read: an empty list takes far more than a byte."""

    def __init__(self) -> None:
        self.items = 0

    def count(self, values: list[Any]) -> list[Any]:
        self.items += 1 + len(values)
        if self.items > MAX_PARTS:
            raise Malformed("The message has too many parts.")
        return values


def _read(descriptor: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(descriptor, min(size - len(data), 1 << 20))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)


# ------------------------------------------------------------------------------------------
# What may cross, in either direction


class _Limited:
    """Counts what a message holds while it is written or read. Raises Malformed for too much."""

    def __init__(self) -> None:
        self.items = 0
        self.bytes = 0

    def enter(self, depth: int) -> None:
        self.items += 1
        self.require(self.items <= MAX_ITEMS and depth <= MAX_DEPTH)

    def count(self, size: int) -> None:
        self.bytes += size
        self.require(self.bytes <= MAX_BYTES)

    def plain(self, value: Any) -> Any:
        """A value that msgpack writes itself, a text without lone surrogates."""
        if type(value) is str:
            self.require(len(value) <= MAX_TEXT)
            data = value.encode("utf-8", "replace")
            self.count(len(data))
            return data.decode()
        self.count(len(value) if type(value) is bytes else 0)
        return self.integer(value) if type(value) is int else value

    def integer(self, value: int) -> int:
        self.require(value.bit_length() <= 4 * MAX_DIGITS)
        return value

    def shape(self, shape: Any, itemsize: int) -> list[int]:
        """The shape of an array, which is counted, as a list."""
        self.require(len(shape) <= MAX_DIMENSIONS and all(n <= MAX_SIZE for n in shape))
        size = math.prod(shape)
        self.require(size <= MAX_SIZE)
        self.count(size * itemsize)
        return list(shape)

    def pairs(self, number: int) -> None:
        self.require(number <= MAX_PAIRS)

    def require(self, fits: bool) -> None:
        if not fits:
            raise Malformed("The value is too large or too deep.")


# ------------------------------------------------------------------------------------------
# Writing values: None, bool, int, float, str and bytes as they are, all else as [tag, content...]


def encode(value: Any) -> Any:
    """A value in msgpack's own types. Raises Malformed for more than a message may hold."""
    return _Writer().write(value, 0)


# The class of the arrays of the package under test, if it is imported: the worker says so.
own_arrays: set[type] = set()


class _Writer(_Limited):
    """Writes one message."""

    def write(self, value: Any, depth: int) -> Any:
        self.enter(depth)
        # `type` cannot be fooled; isinstance asks the object's own __class__.
        writer = _WRITERS.get(type(value))
        if writer is not None:
            return writer(self, value, depth)
        if type(value) in _SCALARS:
            return ["s", *self.buffer(np.asarray(value))]
        if type(value) in own_arrays:
            return self.write_own_array(value)
        return ["o", builtin_name(type(value))]

    def write_plain(self, value: Any, depth: int) -> Any:
        return self.plain(value)

    def write_integer(self, value: int, depth: int) -> Any:
        return value if -(1 << 63) <= value < 1 << 63 else ["i", hex(self.integer(value))]

    def write_complex(self, value: complex, depth: int) -> Any:
        return ["c", value.real, value.imag]

    def write_sequence(self, value: Any, depth: int) -> Any:
        self.require(len(value) <= MAX_ITEMS - self.items)
        tag = "l" if type(value) is list else "t"
        return [tag, *[self.write(item, depth + 1) for item in value]]

    def write_mapping(self, value: dict[Any, Any], depth: int) -> Any:
        self.pairs(len(value))
        pairs = [[self.write(k, depth + 1), self.write(v, depth + 1)] for k, v in value.items()]
        return ["d", *pairs]

    def write_array(self, value: np.ndarray, depth: int) -> Any:
        if _dtype_name(value.dtype) is None or value.ndim > MAX_DIMENSIONS:
            return ["o", "ndarray"]
        return ["a", *self.buffer(value)]

    def write_own_array(self, value: Any) -> Any:
        """The values of an array of the package, if they are there and an array of NumPy's own."""
        try:
            values = np.asarray(value)
        except Exception:  # it was given away to a call, or the submission has changed its class
            return ["o", "object"]
        return self.write_array(values, 0) if type(values) is np.ndarray else ["o", "object"]

    def write_opaque(self, value: Opaque, depth: int) -> Any:
        return ["o", value.name]

    def buffer(self, value: np.ndarray) -> list[Any]:
        name = _dtype_name(value.dtype)
        shape = self.shape(value.shape, value.itemsize)
        little = value if name == "float0" else value.astype(value.dtype.newbyteorder("<"))
        return [name, shape, little.tobytes()]


_WRITERS: dict[type, Any] = {
    **dict.fromkeys((type(None), bool, float, str, bytes), _Writer.write_plain),
    int: _Writer.write_integer,
    complex: _Writer.write_complex,
    list: _Writer.write_sequence,
    tuple: _Writer.write_sequence,
    dict: _Writer.write_mapping,
    np.ndarray: _Writer.write_array,
    Opaque: _Writer.write_opaque,
}
_SCALARS = {dtype.type for name, dtype in DTYPES.items() if name != "float0"}


@functools.lru_cache(maxsize=100)  # NumPy puts a name together anew each time
def _dtype_name(dtype: np.dtype) -> str | None:
    if dtype == FLOAT0:
        return "float0"
    return dtype.name if dtype.name in DTYPES and dtype.fields is None else None


def builtin_name(cls: type) -> str:
    """The name of a built-in class, or "object": a submission may choose the names of its own."""
    name = type.__dict__["__name__"].__get__(cls)
    return name if builtins.__dict__.get(name) is cls else "object"


# ------------------------------------------------------------------------------------------
# Reading values


def decode(message: Any) -> Any:
    """The value that `encode` wrote. Raises Malformed for anything that it does not write."""
    try:
        return _Reader().read(message, 0)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        raise Malformed("The value is not written as it should be.") from error


class _Reader(_Limited):
    """Reads one message."""

    def read(self, message: Any, depth: int) -> Any:
        self.enter(depth)
        if message is None or type(message) in (bool, int, float, str, bytes):
            return self.plain(message)
        if type(message) is not list or not message:
            raise Malformed("The value is not written as it should be.")
        return _READERS[message[0]](self, message[1:], depth)

    def read_integer(self, content: list[Any], depth: int) -> int:
        (digits,) = content
        self.require(len(digits) <= MAX_DIGITS + 3)  # "-0x"; before they are read
        return self.integer(int(digits, 16))

    def read_complex(self, content: list[Any], depth: int) -> complex:
        real, imag = content
        return complex(float(real), float(imag))

    def read_list(self, content: list[Any], depth: int) -> list[Any]:
        return [self.read(item, depth + 1) for item in content]

    def read_tuple(self, content: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.read(item, depth + 1) for item in content)

    def read_dict(self, content: list[Any], depth: int) -> dict[Any, Any]:
        self.pairs(len(content))
        return {self.read(k, depth + 1): self.read(v, depth + 1) for k, v in content}

    def read_array(self, content: list[Any], depth: int) -> np.ndarray:
        name, shape, data = content
        dtype = DTYPES[name]
        well = type(shape) is list and type(data) is bytes
        if not well or not all(type(n) is int and n >= 0 for n in shape):
            raise Malformed("The array is not written as it should be.")
        size = math.prod(self.shape(shape, dtype.itemsize))
        if len(data) != size * dtype.itemsize:
            raise Malformed("The array's data do not fit its shape.")
        if name == "float0":
            return np.zeros(shape, FLOAT0)
        flat = np.frombuffer(data, dtype.newbyteorder("<"))
        if name == "bool":
            flat = np.frombuffer(data, np.uint8) != 0  # any other byte would be no boolean
        return flat.reshape(shape)

    def read_scalar(self, content: list[Any], depth: int) -> Any:
        array = self.read_array(content, depth)
        if array.shape or array.dtype == FLOAT0:
            raise Malformed("The scalar is none.")
        return array[()]

    def read_opaque(self, content: list[Any], depth: int) -> Opaque:
        (name,) = content
        known = name == "ndarray" or type(getattr(builtins, name, None)) is type
        return Opaque(name if known else "object")


_READERS: dict[str, Any] = {
    "i": _Reader.read_integer,
    "c": _Reader.read_complex,
    "l": _Reader.read_list,
    "t": _Reader.read_tuple,
    "d": _Reader.read_dict,
    "a": _Reader.read_array,
    "s": _Reader.read_scalar,
    "o": _Reader.read_opaque,
}


# Later lessons: a jaxpr crosses as its canonical text. The probe makes the text (`str(jaxpr)` with
# the variables named in order), so that nothing has to be added here.
