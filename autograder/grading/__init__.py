"""From one submission to one result: suites' API, oracles, one run, judging, random programs.

`student`, `classroom` and `upkeep` may import it; it runs student code through `sandbox` alone.
"""
