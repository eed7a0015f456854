"""What all tests share: Ctrl-C works, and profiles of Hypothesis, the short one each time the same.

`--hypothesis-profile=long` searches longer, with new examples each time.
"""

import os
import shutil
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

# A shell's background jobs ignore Ctrl-C, and so would every process that the tests start and stop.
signal.signal(signal.SIGINT, signal.default_int_handler)

common = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    "report_multiple_bugs": False,
}
settings.register_profile("short", derandomize=True, database=None, **common)
settings.register_profile("long", max_examples=2000, **common)
settings.load_profile("short")


def pytest_addoption(parser):
    parser.addoption(
        "--full", action="store_true", help="walk every shape and dtype in test_primitives.py"
    )


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium."""
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("needs the Debian package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()
