# title = "Behaves differently when it is graded"
# tries = "It looks for the grader's traces, and answers by looking the probe's text up."
# answer = "return look_up()"
import sys

graded = "probe" in {frame for frame in sys.modules} or "worker" in str(sys.orig_argv)


def look_up():
    """Answer with the last constant of the probe that asks."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != "<probe>":
        frame = frame.f_back
    constants = frame.f_code.co_consts if graded and frame else (None,)
    return constants[-1]
