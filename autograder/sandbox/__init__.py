"""How workers are started and kept harmless: isolation's ladder, control groups, sessions.

The rooms from `grading` on may import it; it knows `worker` and the places in `lessons`.

Control groups are used where they can be had, and nothing relies on them: many machines do not
allow them. They add a limit on threads that holds at once, and the end of processes that got away.
Without them the grader counts each worker's threads, because `RLIMIT_NPROC` does not hold for root
and counts all threads of other users together.
"""
