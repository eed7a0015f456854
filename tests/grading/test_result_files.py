"""Result documents: what is refused when they are read."""

import copy
import json

import jsonschema
import pytest
import result_documents

from autograder.grading import result as types
from autograder.grading import result_files
from autograder.lessons.problem import Problem

SPOILT = {
    "a score that is no number": lambda d: d.update(score="4"),
    "a negative score": lambda d: d.update(score=-1),
    "no maximum": lambda d: d.pop("max_score"),
    "a maximum of zero": lambda d: d.update(max_score=0),
    "no student": lambda d: d.update(student=""),
    "an unknown rung": lambda d: d.update(isolation="none"),
    "no exercises": lambda d: d.update(exercises=[]),
    "an exercise without tests": lambda d: d["exercises"][0].update(tests=[]),
    "an unknown class": lambda d: d["exercises"][0].update({"class": "odd"}),
    "a mistake without hints": lambda d: d["exercises"][0].update(misconception={"name": "x"}),
    "a test that neither passed nor failed": lambda d: d["exercises"][0]["tests"][0].pop("passed"),
    "a hash that is none": lambda d: d.update(submission_sha256="0"),
    "remarks that are no list": lambda d: d.update(remarks="x"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_result_is_refused_as_the_schema_has_it(tmp_path, spoil):
    document = copy.deepcopy(result_documents.ADA)
    path = result_files.write(document, tmp_path)
    assert result_files.read(path) == document
    spoil(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(result_files.SCHEMA.read_text(encoding="utf-8")))
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(Problem, match=r"is not a result file: .*\. Grade the submission again\."):
        result_files.read(path)


def test_what_is_made_from_results_is_not_read_as_results(tmp_path):
    result_documents.write(tmp_path)
    with result_files.made_whole(tmp_path / "made") as new:
        (new / "x.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.json").write_text("{}", encoding="utf-8")
    found = result_files.by_lesson(tmp_path)
    assert {lesson: len(documents) for lesson, documents in found.items()} == {"core": 3, "jvp": 1}


TYPES = {"exercise": types.Verdict, "test": types.Test}


def test_the_types_and_the_schema_name_the_same_things():
    schema = json.loads(result_files.SCHEMA.read_text(encoding="utf-8"))
    for part, kind in [
        (schema, types.Result),
        *((schema["$defs"][x], t) for x, t in TYPES.items()),
    ]:
        assert set(part["properties"]) == set(kind.__annotations__)
        assert set(part["required"]) == kind.__required_keys__
    mistake = schema["$defs"]["exercise"]["properties"]["misconception"]
    assert set(mistake["properties"]) == set(types.Misconception.__annotations__)
