"""How an error is told to a student, wherever that is: by `check`, in feedback, in a report."""

import re

LONGEST = 400  # characters of a text
CUT = "... (cut)"
NO_RETURN = "(None: is a `return` missing?)"
NO_YIELD = "(None: is the `yield` missing?)"
_TOO_DEEP = "a function calls itself endlessly, or once for each step of something long"


def raises(name: str, message: str) -> str:
    """What code does that raises this: "raises ValueError: the message"."""
    text = _TOO_DEEP if name == "RecursionError" else cut(tidy(message))
    return f"raises {name}" + (f": {text}" if text else "")


def missing(message: str) -> str:
    """The hint for a caller that stumbles over a None; "" if the message does not tell of one."""
    if "NoneType" not in message:
        return ""
    return NO_YIELD if message.endswith("object is not an iterator") else NO_RETURN


def tidy(text: str) -> str:
    """A text with classes by name, and without the addresses of objects."""
    text = re.sub(r"<class '(?:[\w.<>]+\.)?(\w+)'>", r"\1", text)
    return re.sub(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-f]+>", r"<\1 object>", text)


def cut(text: str) -> str:
    """A text of bearable length, with a sign where it was cut."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} {CUT}"
