"""`watch`: checks again after each save, moves on when an exercise passes, and listens to keys."""

import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.lessons import nothing
from autograder.lessons.manifest import Exercise, Lesson, get
from autograder.lessons.nothing import Task
from autograder.lessons.problem import Problem
from autograder.student import checks, commands, from_nothing, keys, latest, names, progress, screen
from autograder.student.checks import DONE, Report
from autograder.student.names import all_taught
from autograder.student.workspace import Workspace

HELP = "h hint, n next exercise, l list, o open the page, r run again, q quit"
PAUSE = 100  # milliseconds between two looks at the keyboard


class Watch:
    """A student's place in the course while `watch` runs: an exercise, and the last report."""

    def __init__(self, place: Workspace, has_keys: bool) -> None:
        self.place = place
        self.has_keys = has_keys
        self.exercise: Exercise | None = None
        self.modules: dict[Path, Lesson | Task] = {place.file(x): x for x in all_taught()}
        self.modules |= {place.root / page.file: page for page in nothing.all_tasks().values()}

    def run(self, name: str | None = None) -> None:
        """Check, then go on with every save and every key, until the user has had enough."""
        start = self.lesson if name is None else self.named(name)
        coming = events(self.place.root, self.has_keys)
        next(coming)  # from now on no save is overlooked, even during the first check
        self.check(start)
        for event in coming:
            if isinstance(event, str):
                if event in ("q", keys.END):
                    return
                KEYS.get(event, Watch.tell_keys)(self)
            elif saved := [self.modules[path] for path in event if path in self.modules]:
                print("\n" + ("" if screen.is_plain() else "-" * 72))
                self.check(saved[0])

    def named(self, name: str) -> Lesson | Task:
        """Where to begin: a lesson, at one of its exercises if that is named, or a page."""
        if page := from_nothing.named(self.place, name):
            return page
        lesson, exercise = names.resolve(names.plain(name), latest.lesson(self.place))
        self.exercise = exercise if exercise in lesson.exercises else None
        return lesson

    @property
    def lesson(self) -> Lesson:
        """The lesson of the exercise, or the one that the student works on."""
        return get(self.exercise.lesson) if self.exercise else latest.lesson(self.place)

    def check(self, saved: Lesson | Task) -> None:
        """Check a lesson, or a page, and say what was found; a file may be missing meanwhile."""
        page = self.place.page(saved) if isinstance(saved, Lesson) else saved
        try:
            if page:
                from_nothing.check(self.place, page)
            elif isinstance(saved, Lesson):
                report = commands.run(self.place, saved)
                commands.tell(report, self.place)
                if not report.broken:
                    self.move_on(report)
        except Problem as problem:
            print(problem)
        self.wait()

    def move_on(self, report: Report) -> None:
        """Go to the next exercise if the present one passes, or if it is in another lesson."""
        before, order = self.exercise, report.lesson.exercises
        if before in order and report.status(before) != DONE:
            return
        open_ = checks.ready(report.lesson, report.done)
        if not open_ and not latest.is_told(self.place, report.lesson):
            commands.tell_end(self.place, report.lesson)
        start = order.index(before) if before in order else 0
        later = [x for x in order[start:] if x in open_]
        self.exercise = next(iter([*later, *open_]), None)
        if before in order and self.exercise:
            print(f"\n{before.id} passes. Next: {self.exercise.id}.")

    def wait(self) -> None:
        """Say how far the student is, and what can be done now."""
        print()
        print(progress.line(self.place))
        what = HELP if self.has_keys else "Ctrl-C ends this"
        print(f"Waiting for you to save a file ({what}).", flush=True)

    # The keys

    def hint(self) -> None:
        """A hint for the exercise."""
        if self.exercise is None:
            print("\nThere is nothing to do. Press l for the list.")
            return
        print()
        commands.hint(self.place, self.exercise)
        self.wait()

    def next(self) -> None:
        """Go to the next exercise that is not done, and check its lesson."""
        done = {x for lesson in all_taught() for x in self.place.checked(lesson)[0]}
        every = [x for lesson in all_taught() for x in lesson.exercises]
        start = every.index(self.exercise) + 1 if self.exercise else 0
        ready = {x for lesson in all_taught() for x in checks.ready(lesson, done)}
        left = [x for x in [*every[start:], *every[:start]] if x in ready]
        if not left or left[0] == self.exercise:
            print("\nThere is no other exercise to do.")
            return
        self.exercise = left[0]
        exercises = get(self.exercise.lesson).exercises
        number = f"{exercises.index(self.exercise) + 1} of {len(exercises)}"
        print(f"\nNow: {self.exercise.id} ({number}), {self.exercise.title}.")
        if self.place.page(get(self.exercise.lesson)):
            self.again()
            return
        report = commands.run(self.place, get(self.exercise.lesson), self.exercise)
        commands.tell(report, self.place)
        self.wait()

    def list(self) -> None:
        """All lessons."""
        print()
        progress.list_lessons(self.place)
        self.wait()

    def open(self) -> None:
        """The lesson's page, in a browser if there is one."""
        page = self.place.root / "lessons" / self.lesson.folder.name / "lesson.md"
        opened = page.exists() and webbrowser.open(page.as_uri())
        print(f"\nThe page is {'opened: ' if opened else ''}{page}", flush=True)

    def again(self) -> None:
        """Check once more."""
        print()
        self.check(self.lesson)

    def tell_keys(self) -> None:
        """Which keys there are."""
        print(f"\nKeys: {HELP}.", flush=True)


KEYS: dict[str, Callable[[Watch], None]] = {
    "h": Watch.hint,
    "n": Watch.next,
    "l": Watch.list,
    "o": Watch.open,
    "r": Watch.again,
    "\n": Watch.again,
}


def events(root: Path, has_keys: bool) -> Iterator[str | list[Path]]:
    """What happens: a key, or the files that were saved; at first none, when watching has begun."""
    import watchfiles

    for changes in watchfiles.watch(
        root, raise_interrupt=True, yield_on_timeout=True, rust_timeout=PAUSE
    ):
        yield [Path(path) for _, path in changes]
        while has_keys and (key := keys.pressed()) is not None:
            yield key
            if key == keys.END:
                return


def watch(place: Workspace, name: str | None = None) -> None:
    """Watch a workspace until the user ends it; begin at what is named."""
    with keys.listening() as has_keys:
        Watch(place, has_keys).run(name)
