"""From one submission to one result: suites' API, oracles, one run, judging, random programs.

`student`, `classroom` and `upkeep` may import it; it runs student code through `sandbox` alone.

What a worker's death means: after two in one exercise, by time-out or crash, its further probes are
not run, or a module that ends its process in each of sixty probes would cost sixty starts. A worker
that was killed by SIGKILL is asked once more, because the machine may have run out of memory.
"""
