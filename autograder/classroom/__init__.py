"""What an instructor needs for a class: intake, a class's run, nbgrader, reports, releases.

Only `upkeep` and the command may import it.
"""
