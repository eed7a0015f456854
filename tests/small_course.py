"""A course of three tiny lessons in a temporary folder, for tests of the machinery."""

from pathlib import Path

from autograder.lessons import assemble, places

HELLO = '''"""The first lesson's module."""

import functools


def given(x: int) -> int:
    """Return one more."""
    return x + 1


# How to greet.
@functools.cache
def greet(
    name: str,
    *,
    mark: str = ":",
) -> str:
    """Greet somebody.

    Give the greeting with its mark.
    """
    # This comment gives the solution away.
    text = f"""Hello,
{name}"""
    return text + mark
    # And so does this one.


class Box:
    """Holds a value."""

    size = 1

    @property
    def value(self) -> int:
        """The value."""
        return self.size

    def grow(self, by: int = 1) -> "Box":
        """Grow, and return the box."""
        self.size += by
        return self
'''

WORDS = '''"""Given code of the package."""

__all__ = ["loud", "Word", "LIMIT"]

LIMIT = 3


class Word(str):
    """A word."""


def loud(x: str) -> str:
    """Return it in capitals."""
    return x.upper()


def _quiet(x: str) -> str:
    return x.lower()
'''

BYE = '''"""The last lesson's module."""

from toy.hello import greet


def bye(name: str) -> str:
    """Part from somebody."""
    return greet(name).replace("Hello", "Bye")
'''

HELLO_TOML = """
id = "hello"
title = "Greeting people"
module = "toy/hello.py"
minutes = 10
requires = []
exports = ["greet", "Box", "words from toy.text", "text.* from toy.text.words"]
given = ["toy/text/words.py"]

[[exercise]]
id = "hello.greet"
title = "A greeting"
target = "greet"
points = 2
minutes = 5
difficulty = 1
todo = "Put the name behind the greeting, and the mark behind the name."
hints = ["Think of strings.", "Think of f-strings.", "Write `f'Hello, {name}'`."]

[[exercise]]
id = "hello.grow"
title = "A box that grows"
target = "Box.grow"
points = 1.5
minutes = 5
difficulty = 3
todo = "Add to the size."
hints = ["One.", "Two.", "Three."]
after = ["hello.greet"]
"""

GIVEN_TOML = """
id = "between"
title = "Given code"
module = "toy/between.py"
minutes = 0
requires = ["hello"]
exports = ["BETWEEN"]
"""

BYE_TOML = """
id = "bye"
title = "Parting"
module = "toy/bye.py"
minutes = 10
requires = ["hello"]
exports = ["bye"]

[[exercise]]
id = "bye.bye"
title = "A parting"
target = "bye"
points = 1
minutes = 5
difficulty = 2
todo = "Use greet."
hints = ["One.", "Two.", "Three."]
"""

HELLO_MD = """# Greeting people

{{ lesson }}

## A part

{{ source toy/hello.py given }}

```python exec="on" source="above" result="text" session="hello"
from toy.hello import given

print(given(1))
```

{{ exercise hello.greet }}

{{ exercise hello.grow }}
"""

BYE_MD = """# Parting

{{ lesson }}

{{ source toy/hello.py greet }}

{{ exercise bye.bye }}
"""

FILES = {
    "course/routes.toml": '[[part]]\ntitle = "I. Small"\nlessons = ["hello", "bye"]\n',
    "course/lessons/01_hello/lesson.toml": HELLO_TOML,
    "course/lessons/01_hello/lesson.md": HELLO_MD,
    "course/lessons/02_between/lesson.toml": GIVEN_TOML,
    "course/lessons/03_bye/lesson.toml": BYE_TOML,
    "course/lessons/03_bye/lesson.md": BYE_MD,
    "solutions/toy/hello.py": HELLO,
    "solutions/toy/between.py": '"""Given."""\n\nBETWEEN = 2\n',
    "solutions/toy/bye.py": BYE,
    "solutions/toy/text/words.py": WORDS,
}


def write(monkeypatch, root: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the course below `root`, with some files changed, and make it this process's."""
    for path, text in {**FILES, **(changes or {})}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return use(monkeypatch, root)


def hand_out(path: str) -> None:
    """Leave the skeleton of a module in place of its reference, as handouts do."""
    file = places.COURSE / path
    file.parent.mkdir()
    file.write_text(assemble.read_handout(path), encoding="utf-8")
    (places.SOLUTIONS / path).unlink()


def use(monkeypatch, root: Path) -> Path:
    """Make the course below `root` this process's."""
    monkeypatch.setattr(places, "ROOT", root)
    monkeypatch.setattr(places, "COURSE", root / "course")
    monkeypatch.setattr(places, "SOLUTIONS", root / "solutions")
    return root
