"""The lesson jit: the workers that grade it share one XLA client."""

from autograder.grading.suite import probe
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation
from autograder.sandbox.session import Session


@probe
def of_the_client(mj):
    """A result, and which client of XLA it came from."""
    from minijax import xla

    value = float(mj.jit(lambda x: x * 2.0)(4.0))
    return value, id(xla.client())


def test_fresh_imports_share_one_client(tmp_path):
    lesson = manifest.get("jit")
    assemble.write_tree(tmp_path, lesson, {})
    with Session(tmp_path, lesson.module, isolation.choose()) as session:
        assert session.load().kind == "value"
        first, *others = [session.call(of_the_client, fresh=True, seconds=10) for _ in range(4)]
    assert first.kind == "value"
    assert [reply.value for reply in others] == [first.value] * 3
