"""JUnit files: a test case for each hidden test.

They follow the schema junit-10.xsd of Jenkins' xUnit plugin, with `file` and `line` of a test case
as pytest's xunit1 has them, which readers on GitHub and GitLab use.
"""

import re
from typing import Any
from xml.etree import ElementTree

from autograder.classroom.systems.system import Exports, System, of_each, place_of
from autograder.grading.result import Result


def document(result: Result) -> bytes:
    """One submission as a JUnit file: a test case for each hidden test, by exercise."""
    cases = [(exercise, test) for exercise in result["exercises"] for test in exercise["tests"]]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(not test["passed"] for _, test in cases)),
        "errors": "0",
        "time": f"{result.get('seconds', 0):.3f}",
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": result["lesson"], **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("student", "score", "max_score", "isolation"):
        about = {"name": name, "value": _printable(result[name])}
        ElementTree.SubElement(properties, "property", about)
    for exercise, test in cases:
        names = {"classname": exercise["id"], "name": _printable(test["id"])}
        case = ElementTree.SubElement(suite, "testcase", {**names, **place_of(exercise)})
        if not test["passed"]:
            why = _printable(test.get("message") or exercise["message"] or "")
            about = {"type": test.get("class") or "failure", "message": why}
            ElementTree.SubElement(case, "failure", about)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _printable(value: Any) -> str:
    """A value as a text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", str(value))


SYSTEM = System(
    "junit",
    exports=Exports(
        lambda found, *_: of_each(found, "xml", document),
        holds="a JUnit file for each submission, a test case for each hidden test",
        use=(
            "for your own continuous integration; it names hidden tests, so keep it from students"
        ),
    ),
)
