"""Profiles of Hypothesis: short and the same each time, or `--hypothesis-profile=long`."""

from hypothesis import HealthCheck, Phase, settings

common = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    "report_multiple_bugs": False,
}
settings.register_profile("short", derandomize=True, database=None, **common)
settings.register_profile("long", **common)
settings.load_profile("short")
