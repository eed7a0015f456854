"""What a person reads in formgrader: what was asked for and handed in, and no more."""

import json
import re

from autograder.classroom.course import notebooks
from autograder.classroom.course.settings import Assignment
from autograder.classroom.intake import answers
from autograder.classroom.nbgrader import shown
from autograder.lessons import manifest

LESSON = manifest.get("core")
RELEASE = notebooks.texts(Assignment(LESSON.id, (LESSON,), open={LESSON.id: 5.0}))
FORMULA = "It is $\\frac{1}{2} < x$, and $\\href{x}{y}$ is no mathematics."


def made():
    release = json.loads(RELEASE[f"{LESSON.id}.ipynb"])
    question = f"{LESSON.id}-question"
    whole = answers.rebuild_notebook(release, {question: FORMULA})
    return whole["cells"], shown.for_a_person(whole)["cells"]


def text(cells):
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_the_lessons_text_is_left_out_and_statements_are_folded():
    before, now = made()
    assert [x["id"] for x in now if "nbgrader" in x["metadata"]] == [
        x["id"] for x in before if "nbgrader" in x["metadata"]
    ]
    assert len(text(now)) < len(text(before)) / 4
    assert text(now).count("<details><summary>") == len(LESSON.exercises) + 1  # the whole module
    assert "Hint" not in text(now)
    asked = " ".join(LESSON.question.replace("`", "").split()[:6])
    plain = re.sub(r"<[^>]*>", "", text(now).replace("&#10;", " "))
    assert asked in " ".join(plain.split())


def test_formulas_need_nothing_from_elsewhere():
    _, now = made()
    (answer,) = [x["source"] for x in now if x["id"] == f"{LESSON.id}-question"]
    assert "<mfrac>" in answer
    assert "\\frac" not in answer
    assert "tex2jax_process" not in text(now)
    assert "<code>$\\href{x}{y}$</code>" in answer
