"""Recorded values as what a stage draws: chips, boxes with parts, arrays, a value on devices.

An item has `key`, the number of its object in the recording: what has the same key in the next
frame moves there. `from` is the key of what it is made from.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.lessons import said
from autograder.lessons.drawing import Step

Item = dict[str, Any]
VARIABLE = re.compile(r"([a-z]+(?:_\d+)?):~?(\w+\[[^\]]*\])")
SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c"}
HANDLES = ("ResultHandler", "cpu:0", "empty")  # parts of what is not drawn
OPAQUE = ("program", "executable", "function")  # of what is not drawn
LONGEST = 22  # letters of a text on a picture


def items(
    shown: Sequence[Any], ids: Sequence[Any] | None = None, role: str = "value"
) -> list[Item]:
    """An item for each value; three or more equal texts in a row are one."""
    found: list[Item] = []
    for one in (item(x, n, role) for x, n in numbered(shown, ids) if not unseen(x)):
        if found and "type" in one and one.get("text", 0) == found[-1].get("each"):
            found[-1]["many"] += 1
            found[-1]["text"] = f"{found[-1]['many']} x {one['text']}"
        else:
            found.append({**one, "each": one.get("text"), "many": 1} if "type" in one else one)
    return [{k: v for k, v in x.items() if k not in ("each", "many")} for x in found]


def numbered(shown: Sequence[Any], ids: Sequence[Any] | None) -> Iterator[tuple[Any, Any]]:
    """Each value with its number, or with None if not all are known."""
    return zip(shown, ids if ids and len(ids) == len(shown) else [None] * len(shown), strict=True)


def ids_of(step: Step, key: str) -> Any:
    """The numbers of a step's values."""
    return step.get("ids", {}).get(key)


def item(shown: Any, number: Any = None, role: str = "value") -> Item:
    """A value as an item; `number` says which object it is, and which objects its parts are."""
    if isinstance(shown, dict) and "box" in shown:
        return box(shown, number if isinstance(number, dict) else {}, role)
    if isinstance(shown, dict | list):
        return group(shown, number, role)
    return chip(str(shown), number, role)


def chip(text: str, number: Any, role: str) -> Item:
    """A single value: a variable, a number, an array with its entries or its type."""
    key = str(number) if isinstance(number, int) else f"={text}"
    if variable := VARIABLE.fullmatch(text):
        return {"key": key, "text": variable[1], "role": role, "tip": variable[2]}
    if " | " in text and text.startswith("["):
        pieces = [x.strip("[] ") for x in text.split(" | ")]
        parts = [
            {"key": f"{key}.{n}", "text": readable(x), "role": role, "cap": f"device {n}"}
            for n, x in enumerate(pieces)
        ]
        return {"key": key, "parts": parts, "role": role}
    if rows := grid(text):
        return {"key": key, "rows": rows, "role": role, "type": f"[{shape(text)}]"}
    plain = readable(text)
    whole = {"type": plain} if re.fullmatch(r"[fiucb]\w*\[[\d,]*\]", plain) else {}
    return {"key": key, "text": plain, "role": role, **whole}


def box(shown: dict[str, Any], number: dict[str, Any], role: str) -> Item:
    """A tracer as a box around what is in it; a batch as sheets along its axis."""
    parts, ids = shown["parts"], number.get("parts", {})
    key = str(number.get("id", f"={said.value(shown)}"))
    made = {"key": key, "level": shown["level"]}
    names = [name for name, x in parts.items() if x not in ("unknown", "None") or name == "tangent"]
    if "batch_dim" in parts:
        value = item(next(iter(parts.values())), next(iter(ids.values()), None), role)
        axis = {"axis": parts["batch_dim"]} if str(parts["batch_dim"]).isdigit() else {}
        if "rows" in value:
            return {**value, **made, "inner": value["key"], **axis}
        return {**made, "parts": [value], **axis}
    roles = {"tangent": "tangent", "var": "tangent" if "pval" in parts else role}
    inner = [item(blank(parts[x]), ids.get(x), roles.get(x, role)) for x in names]
    return {**made, "parts": inner}


def group(shown: Any, number: Any, role: str) -> Item:
    """A container as a frame around its values, with their keys if it is a dict."""
    if isinstance(shown, dict) and "dict" in shown:
        named = [(item(k)["text"], item(x, None, role)) for k, x in shown["dict"]]
        parts = [{**x, "cap": name} for name, x in named]
    else:
        values = shown["list"] if isinstance(shown, dict) else shown
        parts = items(values, number if isinstance(number, list) else None, role)
        parts = [x for x in parts if not silent(x)] or parts
        if values and all(x in ("True", "False") for x in values):
            text = " ".join("●" if x == "True" else "○" for x in values)
            return {"key": f"={text}", "text": text, "role": "value"}
    kept = parts if parts else [{"key": "=empty", "text": "empty", "role": "plain"}]
    return {"key": f"={said.value(shown)}", "parts": kept, "list": isinstance(shown, dict)}


def silent(one: Item) -> bool:
    """Whether an item is a container of devices or handlers, which says nothing on a picture."""
    return all(map(silent, one["parts"])) if "parts" in one else one.get("text") in HANDLES


def unseen(shown: Any) -> bool:
    """Whether a value says nothing on a picture: None, an empty container."""
    return shown in ("None", "frozenset()", [], {"list": []}, {"dict": []})


def blank(shown: Any) -> Any:
    """A tangent that is a symbolic zero is drawn as 0."""
    return "0" if shown == "None" else shown


def readable(text: str) -> str:
    """A text that is short enough, without names of classes."""
    if text.startswith("{ lambda"):
        return "program"
    text = re.sub(r"\b(u?int|float|complex)(\d+)\[", lambda m: SHORT[m[1]] + m[2] + "[", text)
    text = re.sub(r"^unknown ~?(.*)", r"?: \1", re.sub(r"^PyTreeDef\((.*)\)$", r"\1", text))
    text = {"LoadedExecutable": "executable", "<lambda>": "function", "None": "0"}.get(text, text)
    if text.startswith("<") or "->" in text:
        return "program"
    text = " ".join(name_only(x) for x in text.split(" "))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def name_only(word: str) -> str:
    """A variable of an equation without its type."""
    found = VARIABLE.fullmatch(word)
    return found[1] if found else word


def grid(text: str) -> list[list[str]]:
    """The rows of an array that is written with its entries, as texts; [] if it is none."""
    data = entries(text)
    if data is None or not data or (isinstance(data[0], list) and not data[0]):
        return []
    rows = data if isinstance(data[0], list) else [data]
    flat = all(not isinstance(x, list) for row in rows for x in row)
    return [[f"{x:g}" for x in row] for row in rows] if flat else []


def shape(text: str) -> str:
    """The shape of an array that is written with its entries."""
    sizes, data = [], entries(text)
    while isinstance(data, list):
        sizes.append(str(len(data)))
        data = data[0] if data else None
    return ",".join(sizes)


def entries(text: str) -> Any:
    """The entries of an array that is written with them, as lists; None if it is none."""
    try:
        return ast.literal_eval(text) if text.startswith("[") else None
    except (ValueError, SyntaxError):
        return None


def words(one: Item) -> str:
    """An item as a sentence has it."""
    if "parts" in one:
        if "level" not in one:
            return f"({', '.join(map(words, one['parts']))})"
        return f"[{' | '.join(map(words, one['parts']))}]"
    if "rows" in one:
        rows = [f"[{', '.join(row)}]" for row in one["rows"]]
        return rows[0] if len(rows) == 1 else f"[{', '.join(rows)}]"
    return str(one["text"])


def keys(one: Item) -> Iterator[str]:
    """The keys of an item and of all that is in it."""
    yield one["key"]
    if "inner" in one:
        yield one["inner"]
    for part in one.get("parts", ()):
        yield from keys(part)


def is_tangent(one: Item) -> bool:
    """Whether an item is a tangent, or a box with nothing else in it."""
    parts = one.get("parts", ())
    return all(map(is_tangent, parts)) if parts else one.get("role") == "tangent"
