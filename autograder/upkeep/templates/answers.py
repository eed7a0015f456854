"""Answers to the exercises of the newlesson lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("newlesson.first")


@right
def first(x):
    return 2 * x  # FILL IN: a right answer, as different from the reference as you can make it


@mistake(
    name="FILL IN: what the student has mixed up or forgotten",
    hints=[
        "FILL IN: a question that makes the mistake visible.",
        "FILL IN: where it is.",
        "FILL IN: nearly the code.",
    ],
)
def first(x):
    return x  # FILL IN: a wrong answer that students really write
