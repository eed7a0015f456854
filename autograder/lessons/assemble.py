"""Assembles trees: the package as it is after a lesson, with files of one's own laid over it.

A tree is made by copying files, and it is an ordinary Python package. Nothing is imported here,
so hostile files may be laid over a tree without harm.
"""

import ast
import functools
import py_compile
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from autograder.lessons import manifest, places, skeleton
from autograder.lessons.manifest import Lesson, prefix
from autograder.lessons.problem import Problem

WIDTH = 100

Files = Mapping[str, str | bytes]


# ------------------------------------------------------------------------------------------
# Trees


def write_tree(dest: Path, lesson: Lesson, overlay: Files | None = None) -> None:
    """Write the package as it is after `lesson` below `dest`, with `overlay` files in place.

    `overlay` maps paths such as "minijax/jvp.py" to texts. Nothing of later lessons is written.
    """
    overlay = overlay or {}
    for path in overlay:
        _check_inside(path, sorted({other.package for other in prefix(lesson)}))
    write_files(dest, {**tree(lesson, overlay), **overlay})


def write_files(dest: Path, files: Files) -> None:
    """Write files, given by their paths below `dest`, whose own parent is there already."""
    folders = {folder for path in files for folder in PurePosixPath(path).parents}
    for folder in sorted(folders):  # outer ones first, and none above `dest`: it may be gone
        (dest / folder).mkdir(exist_ok=True)
    for path, content in files.items():
        file = dest / path
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def with_bytecode(files: Mapping[str, str]) -> dict[str, str | bytes]:
    """The files with their bytecode beside them, which Python then takes without a look at them.

    Only for files that we have written: bytecode is believed.
    """
    found: dict[str, str | bytes] = dict(files)
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        write_files(Path(folder), files)
        for path in files:
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            made = py_compile.compile(str(Path(folder, path)), doraise=True, invalidation_mode=mode)
            assert made is not None
            found[Path(made).relative_to(folder).as_posix()] = Path(made).read_bytes()
    return found


def completed(own: Mapping[str, bytes]) -> dict[str, bytes]:
    """Modules of a student's own, each with a stand-in for what is not written in it yet."""
    lessons = {lesson.module: lesson for lesson in manifest.load().values() if lesson.exercises}
    return {
        path: skeleton.completed(source, lessons[path]) if path in lessons else source
        for path, source in own.items()
    }


def tree(lesson: Lesson, but: Collection[str] = ()) -> dict[str, str]:
    """The reference's files after `lesson` by path, `__init__.py` files too; `but` those named."""
    return files_of(prefix(lesson), but)


def files_of(part: Sequence[Lesson], but: Collection[str] = ()) -> dict[str, str]:
    """The reference's files of some lessons by path, with the `__init__.py` of just these."""
    files = {path: read_solution(path) for x in part for path in x.files if path not in but}
    return {**init_files(part), **files}


def handout(packages: Collection[str]) -> dict[str, str]:
    """The files of whole packages as students get them: the skeletons among given code."""
    lessons = [lesson for lesson in manifest.load().values() if lesson.package in packages]
    files = {path: read_handout(path) for lesson in lessons for path in lesson.files}
    return {**init_files(lessons), **files}


def read_solution(path: str) -> str:
    """The text of a file of the reference."""
    file = places.solution(path)
    try:
        # Not read_text, which would turn other line ends into "\n".
        return file.read_bytes().decode()
    except FileNotFoundError:
        raise Problem(
            f"solutions/{path} is missing. Get a complete copy, or drop it from lesson.toml."
        ) from None


def read_handout(path: str) -> str:
    """The text of a file as students get it: of a lesson's module, its skeleton."""
    for lesson in manifest.load().values():
        if path == lesson.module:
            return skeleton_of(lesson)
        if path in lesson.given:
            return read_solution(path)
        if path in lesson.scripts:
            return (places.COURSE / path).read_text(encoding="utf-8")
    raise Problem(f"No lesson holds {path}. Name a module, or a file of `given` in lesson.toml.")


def skeleton_of(lesson: Lesson) -> str:
    """A lesson's module as students get it: what is worth nothing in a course is complete."""
    if _is_handed_out(lesson.module):
        return (places.COURSE / lesson.module).read_bytes().decode()
    asked = tuple(exercise for exercise in lesson.exercises if exercise.points)
    return skeleton.make_skeleton(read_solution(lesson.module), replace(lesson, exercises=asked))


def _is_handed_out(path: str) -> bool:
    """Whether this is a handout with the skeleton of this module, without its reference."""
    return (places.COURSE / path).is_file() and not places.solution(path).is_file()


def released(lesson: Lesson) -> str:
    """The same for a class: its notebooks import it, so what is not there has a stand-in."""
    return skeleton.completed(skeleton_of(lesson).encode(), lesson, apart="\n").decode()


def _check_inside(path: str, packages: Sequence[str]) -> None:
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and "\\" not in path and "\0" not in path
    if not plain or ".." in parts or len(parts) < 2 or parts[0] not in packages:
        raise Problem(
            f"{path!r} does not lie in the package {' or '.join(packages)}. "
            f"Give a path like {packages[0]}/x.py."
        )


# ------------------------------------------------------------------------------------------
# The files __init__.py, written from the manifests' exports: no such file can be written by hand,
# because the tree of each lesson must run with the names of the lessons up to it. An export may say
# where a name goes and where it comes from, such as "numpy.* from minijax.numpy.basic".

_HEAD = '''"""{title}

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""
'''


def init_files(part: Sequence[Lesson]) -> dict[str, str]:
    """The texts of the packages' `__init__.py`, by path, as the lessons' exports make them."""
    imports: dict[str, dict[str, str]] = {}  # package -> public name -> module it comes from
    for lesson in part:
        for folder in _folders(lesson.files):
            imports.setdefault(folder, {})
        for export in lesson.exports:
            _add_export(imports, lesson, export)
    given = {file for lesson in part for file in lesson.given}
    return {
        f"{package.replace('.', '/')}/__init__.py": _init_text(
            package, names, _grows(part, package), given
        )
        for package, names in sorted(imports.items())
    }


def _grows(part: Sequence[Lesson], package: str) -> bool:
    """Whether the package has lessons after these, which may add names."""
    here = [lesson for lesson in part if lesson.package == package.split(".", maxsplit=1)[0]]
    return len(here) < len(manifest.package_of(here[0]))


def _folders(files: Iterable[str]) -> Iterator[str]:
    """The packages in which these files lie, as dotted names."""
    for file in files:
        for folder in list(PurePosixPath(file).parents)[:-1]:
            yield ".".join(folder.parts)


def _add_export(imports: dict[str, dict[str, str]], lesson: Lesson, export: str) -> None:
    path, _, module = export.partition(" from ")
    package, _, name = f"{lesson.package}.{path}".rpartition(".")
    module = module or lesson.module_name
    known = imports.setdefault(package, {})
    for public in _star(lesson, module) if name == "*" else [name]:
        if public in known:
            raise Problem(
                f"{lesson.id} exports {package}.{public}, which {known[public]} gives already. "
                "Drop one of the two from `exports`."
            )
        known[public] = module


def _star(lesson: Lesson, module: str) -> list[str]:
    """The names in a module's `__all__`, read without running it."""
    path = _file(module)
    names = _public(_solution_or_skeleton(path))
    if names is None:
        raise Problem(
            f"{lesson.id} exports * from {path}, which has no `__all__`. Write one there."
        )
    return names


@functools.lru_cache(maxsize=64)  # every tree of a package asks for the same
def _public(source: str) -> list[str] | None:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def _solution_or_skeleton(path: str) -> str:
    """A skeleton has the same `__all__`."""
    if _is_handed_out(path):
        return (places.COURSE / path).read_text(encoding="utf-8")
    return read_solution(path)


# What is not there is told in one sentence. Type checkers must not take it for a promise.
_MISSING = """
if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        missing = f"{package} has no {{name!r}}{where}."
        raise AttributeError(f"{{missing}} {look}.")
"""
_LOOK = "See what there is by dir({package})"
_EARLY = {
    "where": " in this lesson; later ones add names",
    "look": "It has {', '.join(sorted(__all__))}",
}
FEW = 60  # names that a message can list


# What refuses a name that the package lacks, with the reason where a module of its own knows it.
_REASON = """
if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing({arguments})
"""


# What the package's functions are open to, if it has a module for that.
_OPEN = """
for _name in __all__:
    globals()[_name] = _with_containers(globals()[_name])
"""


def _init_text(package: str, names: Mapping[str, str], grows: bool, given: Collection[str]) -> str:
    text = _HEAD.format(title=f"The public names of {package}.")
    if not names:
        return text
    has_reasons = f"{package.partition('.')[0]}/absent.py" in given
    is_open = _file(f"{package}.containers") in given
    by_module: dict[str, list[str]] = {}
    for name, module in names.items():
        by_module.setdefault(module, []).append(name)
    whole = [m for m, found in by_module.items() if _is_whole(m, found, given)]
    single = [name for name, module in names.items() if module not in whole]
    by_module |= {m: ["*"] for m in whole}
    if has_reasons:
        by_module[f"{package.partition('.')[0]}.absent"] = ["missing as _missing"]
    if is_open:
        by_module[f"{package}.containers"] = ["with_containers as _with_containers"]
    early = grows and len(names) <= FEW
    said = _EARLY if early else {"where": "", "look": _LOOK.format(package=package)}
    missing = _MISSING.format(package=package, **said)
    if has_reasons:
        missing = _REASON.format(arguments=f'"{package}", name' + ", __all__" * early)
    head = f"{text}\nimport typing as _typing\n\n{_imports(by_module)}\n"
    return head + _all(single, whole) + _OPEN * is_open + missing


def _is_whole(module: str, names: Collection[str], given: Collection[str]) -> bool:
    """Whether these are all names of a given module: then only its `__all__` has them.

    Names of a lesson's module are repeated, so that they are there whatever a student writes.
    """
    return _file(module) in given and set(names) == set(
        _public(_solution_or_skeleton(_file(module))) or ()
    )


def _imports(by_module: Mapping[str, list[str]]) -> str:
    """The imports of names and of whole modules, these with their list of names."""
    lines = []
    for module in sorted(by_module, key=_natural):
        if by_module[module] == ["*"]:
            lines.append(
                f"from {module} import *\nfrom {module} import __all__ as {_list(module)}\n"
            )
        else:
            # Constants first, then classes, then the rest: the order of imports that ruff keeps.
            items = sorted(by_module[module], key=lambda x: (_rank(x), _natural(x.lower())))
            lines.append(_listing(f"from {module} import ", "()", items))
    return "".join(lines)


def _list(module: str) -> str:
    return f"_{module.rpartition('.')[2]}"


def _all(names: Iterable[str], whole: Iterable[str]) -> str:
    """The public names: some by themselves, and those of whole modules."""
    # The order that ruff keeps in `__all__`: capital letters come before small ones.
    single = [f'"{x}"' for x in sorted(names, key=lambda x: (_rank(x), _natural(x)))]
    return _listing(
        "__all__ = ", "[]", single + [f"*{_list(m)}" for m in sorted(whole, key=_natural)]
    )


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _rank(name: str) -> int:
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2


def _natural(name: str) -> list[object]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _listing(start: str, brackets: str, items: list[str]) -> str:
    """A list as ruff formats it: on one line where it fits, else one item a line."""
    flat = ", ".join(items)
    line = f"{start}{flat}" if brackets == "()" else f"{start}[{flat}]"
    if len(line) <= WIDTH:
        return f"{line}\n"
    rows = "".join(f"    {item},\n" for item in items)
    return f"{start}{brackets[0]}\n{rows}{brackets[1]}\n"
