"""The site, built once for all of its tests, and served; its pages in a browser."""

import fcntl
import functools
import http.server
import os
import threading

import pytest

from autograder.upkeep import site


@pytest.fixture(scope="session")
def style():
    """The course's style sheet."""
    return site.style()


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The site for a host that has it below a folder, built by the first process that needs it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "course"
    with (shared / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            patch.setenv("SITE_URL", f"https://example.org/{folder.name}/")
            site.build(folder)
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(built):
    handler = functools.partial(Quiet, directory=built.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{built.name}"
        server.shutdown()


class Tabs(dict):
    """Pages in tabs of their own, by path, each with what went wrong; opened when asked for."""

    def __init__(self, context, address):
        super().__init__()
        self.context, self.address = context, address

    def __missing__(self, path):
        self[path] = self.open(path)
        return self[path]

    def open(self, path):
        tab, wrong = self.blank()
        self.go(tab, path)
        return tab, wrong

    def blank(self):
        """A tab without a page. To open one costs two thirds of the time that a page takes."""
        tab, wrong = self.context.new_page(), []
        tab.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        tab.on("request", lambda r: self.foreign(r.url) and wrong.append(f"foreign: {r.url}"))
        return tab, wrong

    def go(self, tab, path):
        tab.goto(f"{self.address}/{path.removesuffix('index.html')}")
        # Measured at once after a change of size, so nothing may still be on its way.
        tab.add_style_tag(content="*, ::before, ::after { transition: none !important }")

    def foreign(self, url):
        return not url.startswith((f"{self.address}/", "data:", "blob:"))


@pytest.fixture(scope="module")
def blank(browser):
    """A tab for the tests of a file, some of which change it: to open one takes its time."""
    tab = browser.new_page()
    yield tab
    tab.close()


@pytest.fixture(scope="session")
def tabs(browser, address):
    with browser.new_context() as context:
        yield Tabs(context, address)
