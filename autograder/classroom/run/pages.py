"""The templates of all pages that are made of results: one environment that escapes everything."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from autograder.grading import result_files

CLASSROOM = Path(__file__).parents[1]
_PAGES = Environment(
    loader=FileSystemLoader([CLASSROOM, CLASSROOM / "nbgrader", CLASSROOM / "reports"]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.filters["file"] = result_files.file_name


def template(name: str) -> Template:
    """The template with this name in one of the classroom's folders."""
    return _PAGES.get_template(name)
