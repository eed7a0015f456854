"""What people read is English: phrases that sound translated are found, with what to write instead.

The list is of patterns that a search can find; most of what makes a page pleasant it cannot. It is
asked of pages, and of docstrings, comments and texts in the code of the course and of the command.
"""

import io
import re
import tokenize

import pytest

from autograder.lessons import manifest, places

LESSONS = "|".join(manifest.load())
INSTEAD = {
    r"(?i:\bwhoever\b)": "you, or the one who acts",
    r"\b([Ss]ome|[Nn]o)body\b": "the one who acts, or you",
    r"\b(gives?|gave|given|giving) (\w+ )?back\b": "return",
    r"\b(stands?|stood) (in|there|beside|behind|below|above|at|before)\b": "is in, appears, lives",
    r"\balso (where|when|if|in|for|at|with|by|those|inside|after)\b": "even if, including",
    r"\bin (the )?place of\b": "instead of",
    r"(?<!here )\b(is|are|was|were) no (array|digit|float|interval|lesson|literal|mutant|number"
    r"|part|plain|primitive|result|text|tracer|tuple)s?\b": "is not a",
    r"\bshall\b": "must, should",
    r"\b(needs? it not|knows? not|need not)\b": "does not have to",
    r"\bin any case\b": "always",
    r"\banother one\b": "the noun",
    r"\b(hints|folder|table|seconds|submissions|points?|(?<!\.)\d+|minutes|times|call) (an?|each)"
    r"\s+(exercise|student|interpreter|lesson|minute|day|call)\b": "per",
    r"\b(comes? to an end|without end|for ever)\b": "terminate, endless",
    r"\bmultipl(y|ies|ied) (\S+ ){0,3}with\b": "by",
    r"\b([Ii]n|[Oo]ut)side of\b": "inside, outside",
    r"\bof one (name|length|type|rank|dtype|structure|shape|kind)\b": "with the same",
    rf"\b[Ll]essons? (\[)?`?({LESSONS})\b": "the X lesson",
    r"\belement-wise\b": "elementwise",
    r"\bhuman eye\b": "manual review",
    r"\b(optimis|specialis|recognis|rematerialis)\w+": "-ize",
}
PAGES = [
    *sorted(places.COURSE.rglob("*.md")),
    *sorted((places.ROOT / "docs").rglob("*.md")),
    *(places.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]


def prose(text):
    """The text with its code, its anchors and its generated parts blanked out, line by line."""
    for pattern in (
        r"```.*?```",
        r"<!-- generated.*?<!-- /generated",
        r"\{ ?#[\w-]+ ?\}",
        r"\(\S*#[\w.-]+\)",
    ):
        text = re.sub(pattern, lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    return text


def found(text):
    return hits(enumerate(prose(text).splitlines(), 1))


def hits(lines):
    return [
        f"line {number}: {match[0]!r}; write: {instead}"
        for number, line in lines
        for pattern, instead in INSTEAD.items()
        for match in re.finditer(pattern, line)
    ]


@pytest.mark.every
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(places.ROOT).as_posix())
def test_a_page_has_no_phrase_that_sounds_translated(path):
    assert found(path.read_text(encoding="utf-8")) == []


CODE = [
    places.ROOT / "jaxprentice",
    *(file for folder in ("autograder", "benchmarks", "solutions", "course") for file in
      sorted((places.ROOT / folder).rglob("*.py")) if "templates" not in file.parts),
]  # fmt: skip
TABLES = [
    *sorted(places.COURSE.rglob("*.toml")),
    *sorted((places.PACKAGE / "hidden").rglob("*.toml")),
]


def words_of(code):
    """The comments and strings of a program, line by line; `code` in backticks is not prose."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            text = re.sub(r"`[^`\n]*`|--lessons? ", "` `", token.string)
            yield from enumerate(text.splitlines(), token.start[0])


@pytest.mark.parametrize("folder", ["autograder", "benchmarks", "course", "solutions", "."])
def test_no_docstring_comment_or_message_sounds_translated(folder):
    files = [file for file in CODE if file.relative_to(places.ROOT).parts[0] == folder]
    files = files or [places.ROOT / "jaxprentice"]
    texts = {file: hits(words_of(file.read_text(encoding="utf-8"))) for file in files}
    assert {str(file): each for file, each in texts.items() if each} == {}


def test_no_manifest_and_no_table_sounds_translated():
    texts = {path: found(path.read_text(encoding="utf-8")) for path in TABLES}
    assert {str(path): each for path, each in texts.items() if each} == {}


def test_the_list_finds_what_it_is_for():
    assert len(found("Whoever writes `x`\n\nstands in lesson jvp, in place of it.\n")) == 4
    assert found("Use it.\n```python\nwhoever = 1\n```\nThe `jvp` lesson stands for it.\n") == []
