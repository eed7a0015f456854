"""`way`: how much help a lesson gives. A lesson that was begun is never overwritten."""

from autograder.lessons import manifest, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.student import updating, workspace
from autograder.student.screen import print_lines
from autograder.student.workspace import Workspace


def choose(place: Workspace, lesson: Lesson, way: str) -> None:
    """Put the module of a way in place, if that of another way is there untouched."""
    workspace.check_way(way)
    place.need_own()
    if place.identity.get("lesson"):
        raise Problem("Your teacher chose the way for this handout. It cannot be changed here.")
    if way != place.way(lesson):
        _refuse_begun(place, lesson, way)
        _put(place, lesson, way)
        place.remember(workspace.WAYS, lesson.id, way)
    page = place.page(lesson)
    where = f"{page.file}, from an empty page" if page else lesson.module
    print_lines([f"The {lesson.id} lesson now uses the {way} way: {manifest.WAYS[way]}."])
    print(f"Write it in {where}.")


def _refuse_begun(place: Workspace, lesson: Lesson, way: str) -> None:
    file = place.root / lesson.module
    untouched = {workspace.skeleton(lesson, x).encode() for x in manifest.WAYS}
    if user_files.is_there(file) and user_files.content(file) not in untouched:
        raise Problem(
            f"You have begun {lesson.id}, so {lesson.module} stays as it is. To begin again, "
            f"`./jaxprentice reset {lesson.id}` (your file is kept), "
            f"then `./jaxprentice way {lesson.id} {way}`."
        )


def _put(place: Workspace, lesson: Lesson, way: str) -> None:
    file = place.root / lesson.module
    if workspace.page_of(lesson, way):
        file.unlink(missing_ok=True)
        updating.note_given(place, lesson.module, None)
        return
    text = workspace.skeleton(lesson, way).encode()
    workspace.write(file, text)
    updating.note_given(place, lesson.module, text)
