"""What all tests share: Ctrl-C works, and profiles of Hypothesis, the short one each time the same.

The choice has `few` examples; `--hypothesis-profile=long` searches longer, with new ones each time.
"""

import functools
import os
import shutil
import signal
from collections import defaultdict

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
settings.register_profile("short", derandomize=True, database=None, max_examples=60, **common)
settings.register_profile("few", derandomize=True, database=None, max_examples=20, **common)
settings.register_profile("long", max_examples=2000, **common)
settings.load_profile("short")


def pytest_addoption(parser):
    parser.addoption(
        "--full",
        action="store_true",
        help="walk every shape and dtype, try every attack in Gradescope's root, keep all busy",
    )
    parser.addoption(
        "--choice", action="store_true", help="a choice of the tests that covers every part"
    )


def pytest_configure(config):
    if config.getoption("--choice"):
        settings.load_profile("few")


UMASK = os.umask(0o022)
os.umask(UMASK)


@pytest.fixture(autouse=True)
def umask():
    """Put back what the configuration of nbgrader sets, which some tests read in their process."""
    os.umask(UMASK)


SAMPLE = 2  # cases of a test function that is sampled

# The files that take minutes start first: one that starts last keeps the rest waiting for it. Of
# those that need the site one builds it, and the others start when it stands.
LONG_FILES = [
    *("test_demo", "test_measured", "test_nbgrader", "test_attacks", "test_submission"),
    *("test_audit", "test_site", "test_right_answers", "test_hostile_pages", "test_term"),
    *("test_release", "test_faults", "test_capstones", "test_bench", "test_surface"),
    *("test_wrapper", "test_messages", "test_firefox", "test_primitives", "test_cli"),
]
RANKS = {stem: rank for rank, stem in enumerate(LONG_FILES)}


def pytest_collection_modifyitems(config, items):
    """Leave out what only --full runs; for the choice keep a few cases of each test, none slow."""
    items.sort(key=lambda item: RANKS.get(item.path.stem, len(RANKS)))
    chosen, of_one_test = set(items), defaultdict(list)
    for item in items:
        of_one_test[item.nodeid.partition("[")[0]].append(item)
    if not config.getoption("--full"):
        chosen = {item for item in items if not item.get_closest_marker("full")}
        for cases in of_one_test.values():
            if cases[0].get_closest_marker("sampled"):
                chosen -= {*cases} - {*few(cases, SAMPLE)}
    if config.getoption("--choice"):
        chosen &= {x for cases in of_one_test.values() for x in choice(cases)}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def pytest_runtest_setup(item):
    """Skip what grades if this machine has no isolation; the first such test finds out."""
    if item.get_closest_marker("isolated") and not has_isolation():
        pytest.skip("no isolation: install the Debian package bubblewrap")


@functools.cache
def has_isolation():
    """A worker that does not even start without isolation is broken: then tests run, and fail."""
    from autograder.sandbox import isolation

    rungs = ("namespaces", "landlock")
    return isolation.detect("process") is not None or None in map(isolation.detect, rungs)


def choice(cases):
    """The cases of a test that the choice has: of those that are not slow the first.

    Where minijax is compared with JAX a test is made of its cases, and the last finds slips, too.
    """
    number = 2 if cases[0].path.parent.name == "reference" else 1
    return few([case for case in cases if not case.get_closest_marker("slow")], number)


def few(cases, number):
    """So many of a test's cases, first and last; all where every one is wanted."""
    if len(cases) <= number or cases[0].get_closest_marker("every"):
        return cases
    return [cases[0], cases[-1]][:number]


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
