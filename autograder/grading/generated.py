"""Generated tests: a law on random programs, in the hidden suites.

    @probe
    def derivative(mj, f, xs, ts):
        return mj.jvp(f, xs, ts)

    def test_random_programs(student):
        \"\"\"The derivative of a random program is right.\"\"\"
        student.agrees_on_programs(derivative)

A law is a probe whose parameters name what it wants of a program (see `Program.text`). The programs
are made here, where the submission cannot see how, sent as text, several in a call, and the
replies are compared with the reference's. When they differ, the program is shrunk here: a round of
shrinking is one call with all candidates. The student gets to see the program and what to do with
it, if that prints another text than on the reference.
"""

import ast
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.grading import known, random_programs, random_trees, result_files, run_laws, strata
from autograder.grading.random_programs import Program
from autograder.grading.random_trees import Tree
from autograder.grading.suite import WRONG_SHAPE, WRONG_TYPE, WRONG_VALUE, Disagreement
from autograder.lessons import skeleton
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Probe, Reply, is_exception
from autograder.worker import wire

# Values and slopes of a program are up to 30 (`random_steps.LARGEST`). They may cancel in one
# right solution and not in another: in float32 that leaves about 30 * 6e-8 for each operation,
# 1e-5 for some of them. A program's arguments are multiples of a quarter, so that a mistake is far
# above this.
ATOL = 1e-4

Sample = Program | Tree

TELLING = (WRONG_VALUE, WRONG_SHAPE, WRONG_TYPE)  # what a program can be shrunk for


OUTCOMES: Probe = run_laws.outcomes


@dataclass(frozen=True)
class Test:
    """A law, the programs that it is asked for, and what travels with it."""

    law: Probe
    programs: Sequence[Sample]
    siblings: Mapping[str, str]
    module: str

    def arguments(self, chosen: Sequence[Sample], catch: bool = False) -> tuple[Any, ...]:
        """What OUTCOMES is called with for these programs."""
        texts = [program.text(self.parameters) for program in chosen]
        law = (self.law.name, self.law.source, self.parameters)
        return law, texts, dict(self.siblings), self.module, catch

    def check_reference(self, reply: Reply) -> None:
        """Complain loudly about a program that does not even work on the reference."""
        if reply.kind != "value":
            raise ValueError(
                f"{self.law.name} raises {reply.name} on the reference. {reply.message}"
            )

    def listing(self, program: Sample) -> str:
        """A program and what a student does with it to see the difference."""
        lines = ["import minijax as mj", program.text(self.parameters)]
        return "\n".join([*lines, f"print(repr({self.shown}))", ""])

    @property
    def printing(self) -> "Test":
        """The law that returns what the listing prints."""
        name, given = "printed", ", ".join(["mj", *self.parameters])
        source = f"def {name}({given}):\n    return repr({self.shown})"
        return replace(self, law=Probe(name, source))

    @functools.cached_property
    def shown(self) -> str:
        """What a student computes with a program: "" if the law has more steps and does not say it.

        It is behind ">>>" in the law's docstring, or its only statement.
        """
        definition = definition_of(self.law)
        for line in (ast.get_docstring(definition) or "").splitlines():
            if line.startswith(">>> "):
                return line.removeprefix(">>> ")
        match skeleton.code(definition):
            case [ast.Return(value=ast.expr() as value)] if not isinstance(value, ast.Dict):
                return ast.unparse(value)
        return ""

    @functools.cached_property
    def parameters(self) -> list[str]:
        """What the law wants of a program."""
        return parameters_of(self.law)


def definition_of(law: Probe) -> ast.FunctionDef:
    """A law's syntax tree."""
    found = ast.parse(law.source).body[-1]
    assert isinstance(found, ast.FunctionDef)
    return found


def parameters_of(law: Probe) -> list[str]:
    """What a law wants of a program."""
    return [argument.arg for argument in definition_of(law).args.args[1:]]


Differences = Callable[[Sequence[Sample]], list[Disagreement | None]]


def smallest(test: Test, differences: Differences) -> tuple[Sample, Disagreement] | None:
    """The smallest program found that has a difference of the same kind, and the difference."""
    pairs = zip(test.programs, differences(test.programs), strict=False)
    wrong = [(program, found) for program, found in pairs if found and found.kind in TELLING]
    if not wrong:
        return None
    begin, first = min(wrong, key=lambda pair: pair[0].size)

    def fails(candidates: list[Sample]) -> list[bool]:
        return [x is not None and x.kind == first.kind for x in differences(candidates)]

    program = random_programs.shrink(begin, fails)
    # Programs of one call share a process, and an earlier one may have left it in disorder.
    found = next(iter(differences([program])), None)
    if found is None or found.kind not in TELLING:
        return None
    return program, found


def replies(reply: Reply) -> list[Reply]:
    """The reply on each program; none where the whole call went wrong.

    Everything in it may be the submission's own invention.
    """
    if reply.kind != "value" or not isinstance(reply.value, list):
        return []
    return [_reply(item) for item in reply.value]


def _reply(item: Any) -> Reply:
    match item:
        case ("value", value):
            return Reply("value", value)
        case ("raised", str(name), str(message), *seen):
            known = f"errors.{name}" if not is_exception(name) else name
            return Reply("raised", seen or None, known, message[: wire.MAX_ERROR])
        case ("changed",):
            return Reply("changed")
    return Reply("crashed")


@functools.lru_cache(maxsize=1000)
def _made(lesson: Lesson, kind: Any, seed: str, recipe: str) -> list[Sample]:
    """New programs or trees, made once for all submissions."""
    about = repr((kind.__name__, seed, recipe)).encode()
    made: list[Sample] | None = known.of(lesson).get(about)
    if made is None:
        made = kind.make(seed, **json.loads(recipe))
        known.of(lesson).put(about, made)
    return made


# Storing -----------------------------------------------------------------------------------------


def stored(
    folder: Path | None, lesson: Lesson, test: str, law: Probe, seed: int, recipe: dict[str, Any]
) -> list[Sample]:
    """The programs of a test: those in `folder`, if they are there, else new ones, kept there.

    A later version of the course may make others from the same seed; what is stored stays.
    """
    is_tree = "tree" in parameters_of(law)
    kind: Any = random_trees if is_tree else random_programs
    about = json.loads(json.dumps({"seed": seed, "law": law.name, "recipe": recipe}))
    path = folder and folder / lesson.id / f"{test}.{law.name}.{seed}.programs"
    if path and path.is_file():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["about"] == about:
            return [kind.from_data(data) for data in kept["programs"]]
    maker = random_trees if is_tree else strata
    made = _made(lesson, maker, f"{seed}/{lesson.id}/{test}/{law.name}", json.dumps(recipe))
    if path:
        content = {"about": about, "programs": [program.data() for program in made]}
        result_files.write_text(path, json.dumps(content) + "\n")
    return made
