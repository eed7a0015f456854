"""The lesson core: what is given in it, and blocks with an interpreter."""

import operator
import threading
from unittest.mock import patch

import pytest


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_a_block_has_its_interpreter_on_top_and_ends_as_it_began(error):
    from minijax.core import Trace, new_main, trace_state

    before, heights = list(trace_state.stack), []
    thread = threading.Thread(target=lambda: heights.append(len(trace_state.stack)))

    def fail():
        with new_main(Trace, 7) as outer, new_main(Trace) as inner:
            assert trace_state.stack == [*before, outer, inner]
            assert [outer.level, inner.level, outer.global_data] == [1, 2, 7]
            thread.start()
            thread.join()
            raise error

    with pytest.raises(error):
        fail()
    assert trace_state.stack == before
    assert heights == [1]


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_tracers_are_not_compared_before_a_lesson_says_how(compare):
    from minijax.array import array_methods
    from minijax.core import counted

    before = {k: v for k, v in array_methods.items() if k not in ("__eq__", "__ne__")}
    with patch.dict(array_methods, before, clear=True), pytest.raises(TypeError, match="Count"):
        counted(lambda x: compare(x, x))(1.0)
