"""What the students' commands do: workspace, visible checks and their explanations, hints, watch.

`classroom` and `upkeep` may import it; a handout brings it along, so it must work without them.
"""
