"""Whether right answers that are written differently from the reference pass."""

from autograder.grading import submission
from autograder.lessons import assemble, manifest, skeleton
from autograder.student import checks


def lost(lesson_id, answers):
    """The exercises in which these answers do not have full points, or fail a visible check.

    `answers` has a definition for each exercise of the lesson, by the exercise's id.
    """
    lesson = manifest.get(lesson_id)
    source = assemble.read_solution(lesson.module)
    for exercise in lesson.exercises:
        source = skeleton.replace_function(source, exercise.target, answers[exercise.id])
    result = submission.grade(lesson, "other", source.encode())
    report = checks.run(lesson, {lesson.module: source.encode()})
    points = [e["id"] for e in result["exercises"] if e["points"] != e["max_points"]]
    return points, [e.id for e in lesson.exercises if e.id not in report.done]
