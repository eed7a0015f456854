"""Result documents of an invented class, as `grade` writes them."""

from autograder.grading import result_files

WRONG = "This does not hold yet: a <property>."
ENDLESS = "The import does not terminate."


def exercise(
    name, *passed, kind="wrong_value", mistake=None, program=None, points=2.0, message=WRONG
):
    """An exercise with so many tests, each passed or not."""
    right = all(passed)
    message = None if right else message
    tests = [
        {
            "id": f"test_hidden[{i}]",
            "passed": ok,
            "class": None if ok else kind,
            "message": None if ok else message,
        }
        for i, ok in enumerate(passed)
    ]
    return {
        "id": name,
        "points": round(points * sum(passed) / len(passed), 2),
        "max_points": points,
        "tests": tests,
        "class": None if right else kind,
        "message": message,
        "misconception": mistake and {"name": mistake, "hints": ["First.", "Second.", "Third."]},
        "counterexample": program,
    }


def result(student, *exercises, lesson="core", remarks=(), review=(), seconds=1.5):
    """One submission."""
    return {
        "lesson": lesson,
        "student": student,
        "score": round(sum(e["points"] for e in exercises), 2),
        "max_score": sum(e["max_points"] for e in exercises),
        "isolation": "namespaces",
        "exercises": list(exercises),
        "remarks": list(remarks),
        "review": list(review),
        "submission_sha256": "0" * 64,
        "versions": {},
        "seed": 0,
        "seconds": seconds,
    }


ADA = result("ada", exercise("core.full_raise", True, True, True), exercise("core.get_aval", True))
BELA = result(
    "bela",
    exercise("core.full_raise", True, False, False, mistake="A < B"),
    exercise("core.get_aval", True),
)
CY = result(
    "=cy",
    exercise("core.full_raise", False, False, False, kind="does_not_terminate"),
    exercise("core.get_aval", False, kind="not_implemented"),
    remarks=[ENDLESS],
    review=["The module uses what no exercise needs: open."],
)
ADA_JVP = result("ada", exercise("jvp.flat", True, False, points=1.0), lesson="jvp")
CLASS = [ADA, BELA, CY, ADA_JVP]


def write(folder, documents=CLASS):
    """Write them as `grade` does for each lesson."""
    for document in documents:
        result_files.write(document, folder / document["lesson"])
    return folder
