"""What runs inside nbgrader, and around its course directory, exchange and gradebook.

The course directory's `nbgrader_config.py` calls `autograde.configure`. From then on nbgrader's own
commands do the rest, on clean copies (`intake`) and with verdicts of the one class run.
"""
