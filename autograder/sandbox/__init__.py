"""How workers are started and kept harmless: isolation's ladder, control groups, sessions.

The rooms from `grading` on may import it; it knows `worker` and the places in `lessons`.
"""
