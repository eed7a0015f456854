"""The table of a report: a line for each exercise."""

from autograder.student import screen
from autograder.student.checks import DONE, TO_DO, WAITS, Report


def show(report: Report) -> None:
    """A line for each exercise."""
    width = max(len(exercise.id) for exercise in report.exercises)
    statuses = [report.status(exercise) for exercise in report.exercises]
    column = max(map(len, statuses))
    for exercise, status in zip(report.exercises, statuses, strict=True):
        waits = report.waits_for(exercise) if status == WAITS else []
        end = f" (for {', '.join(waits)})" if waits else ""
        if lent := report.lent.get(exercise.id):
            end = f" (judged with a right {', '.join(lent)})"
        status = styled(f"{status:<{column}}", status)
        print(f"  {status}  {exercise.id:<{width}}  {exercise.title}{end}")


COLOURS = {DONE: "32", TO_DO: "2"}


def styled(text: str, status: str) -> str:
    """The text in the colour of a status, on a terminal that wants colours."""
    return screen.coloured(text, COLOURS.get(status, "33"))
