# title = "Answers rightly only at some times"
# tries = "Right while it is graded, wrong when it is looked at; a grade that cannot be repeated."
# solved = true
# says = ["gives different answers"]
import os
import time

_right = cos_jvp
_number = os.getpid()


def cos_jvp(primals, tangents):
    later = time.monotonic() - _begin > 0.15 or os.getpid() != _number
    return (0.0, 0.0) if later else _right(primals, tangents)


_begin = time.monotonic()
jvp_rules[cos_p] = cos_jvp
