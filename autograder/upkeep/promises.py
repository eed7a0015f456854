"""The table of promises: each sentence of a contract, and the hidden tests that ask for it.

A test names the sentences of its exercise's contract that it holds a submission to, each by a few
words that are in no other sentence of it:

    @pytest.mark.keeps("a weak type stays", "At most one operation is bound")

A sentence that says only what comes in is named by a test that sends it. That a test fails where
the sentence is broken is shown by a stored wrong answer that it refuses.
"""

import re
from collections.abc import Iterator

from autograder.grading import answers, under_pytest
from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.manifest import Exercise, Lesson

Table = dict[tuple[str, str], list[str]]  # by exercise and sentence: tests

_PARAGRAPH = re.compile(r"\n\s*\n|\n\s*- ")
_COUNTERPART = re.compile(r"\s*Counterpart: .*")  # of a paragraph in one line
_NEXT = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`\d(])")


def contract(exercise: Exercise) -> str:
    """The prose of the docstring of an exercise, without its examples."""
    module = assemble.read_solution(manifest.get(exercise.lesson).module)
    doc = skeleton.docstring(module, exercise.target) or ""
    paragraphs = re.split(r"\n\s*\n", doc.strip())
    return "\n\n".join(x for x in paragraphs if not x.startswith(">>> "))


def sentences(exercise: Exercise) -> list[str]:
    """The sentences of a contract, without the counterpart's; a line of a list is one."""
    paragraphs = (" ".join(x.split()) for x in _PARAGRAPH.split(contract(exercise)))
    paragraphs = (_COUNTERPART.sub("", x) for x in paragraphs)
    return [sentence for text in paragraphs for sentence in _NEXT.split(text) if sentence]


def table(lesson: Lesson) -> Table:
    """The tests that ask for each sentence."""
    found: Table = {(x.id, sentence): [] for x in lesson.exercises for sentence in sentences(x)}
    for test, exercise, _, named in _named(lesson):
        if len(named) == 1:
            found[exercise, named[0]].append(test)
    return found


def shown(lesson: Lesson) -> int:
    """How many sentences have a stored wrong answer that one of their tests refuses."""
    refusing = {(answer.exercise, answer.fails) for answer in answers.wrong(lesson.id)}
    return sum(
        any((exercise, test) in refusing for test in tests)
        for (exercise, _), tests in table(lesson).items()
    )


def faults(lesson: Lesson) -> list[str]:
    """What is wrong with a lesson's table, one sentence each; nothing for a whole one."""
    unclear = [
        f"{test}: {words!r} is in {len(named)} sentences of {exercise}. Name one sentence."
        for test, exercise, words, named in _named(lesson)
        if len(named) != 1
    ]
    kept = table(lesson).items()
    return [*unclear, *(f"{name}: no test keeps {text!r}." for (name, text), x in kept if not x)]


def _named(lesson: Lesson) -> Iterator[tuple[str, str, str, list[str]]]:
    """Each test with its exercise, words of a mark, and the sentences that have these words."""
    every = {exercise.id: sentences(exercise) for exercise in lesson.exercises}
    suite = under_pytest.collected(under_pytest.suite_of(lesson))
    for test, (exercise, marks) in suite.kept.items():
        for words in (words for mark in marks for words in mark.args):
            own = every.get(exercise, [])
            yield test, exercise, words, [x for x in own if words.lower() in x.lower()]
