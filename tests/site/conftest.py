"""The site, built once for all of its tests, and served."""

import functools
import http.server
import threading

import pytest

from autograder.upkeep import site


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return site.build(tmp_path_factory.mktemp("site"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(built):
    handler = functools.partial(Quiet, directory=built)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
