"""One run of a class, behind every front door: tasks in, verdicts out, results made of these.

`grade`, nbgrader's `autograde` and the archives for other systems say whose submissions there are.
The rest is the same for all: what a verdict depends on is its task's key (`grading/task.py`), a
store keeps verdicts by key, an executor (processes here, or a Dask cluster) makes those that are
missing, and what has nothing to do with the code is put on afterwards.
"""
