"""What maintainers need: sync, audit, mutants, attacks, benchmarks, the demo's class, the site.

Only the command may import it.
"""
