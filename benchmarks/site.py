"""What pages weigh: how long they load on a slow phone, beside the aims.

The line has 1.6 Mbit/s and 150 ms, the processor is four times slower than this one, the cache is
empty, and the host compresses. A task longer than 200 ms is felt when one touches the page. Run it
on a machine that has nothing else to do: a busy one is slower still.
"""

import functools
import gzip
import http.server
import os
import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, sync_playwright

from autograder.upkeep import site

PAGES = ("", "lessons/duals/", "lessons/jvp/", "lessons/grad/", "lessons/control/", "api/numpy/")
LOADS, LONGEST = 3.0, 0.2  # the aims, in seconds
LINE = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 1e5}
SLOWER = 4  # than this processor
TEXTS = (".html", ".css", ".js", ".mjs", ".json", ".svg")
WATCH = """window.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((x) => x.duration)))
  .observe({ type: "longtask", buffered: true });"""
FOUND = """() => {
  const [{ loadEventEnd }] = performance.getEntriesByType("navigation");
  return [loadEventEnd, Math.max(0, ...tasks), document.querySelectorAll("*").length];
}"""


class Compressed(http.server.SimpleHTTPRequestHandler):
    """Sends texts compressed, as hosts of sites do."""

    def do_GET(self) -> None:
        """One file."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        packed = path.suffix in TEXTS and path.is_file()
        if not packed:
            super().do_GET()
            return
        content = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Nothing is told."""


@dataclass(frozen=True)
class Weight:
    """What one page weighs."""

    page: str
    loads: float  # seconds
    longest: float  # task, in seconds
    nodes: int
    sent: int  # bytes

    @property
    def row(self) -> str:
        """A line of the table."""
        marks = f"{self.loads:>8.2f}{self.longest:>14.3f}{self.nodes:>9}{self.sent / 1000:>8.0f}"
        return f"{self.page or 'home':<18}{marks}{'  over the aim' if self.is_heavy else ''}"

    @property
    def is_heavy(self) -> bool:
        """Whether an aim is missed."""
        return self.loads > LOADS or self.longest > LONGEST


def weigh(browser: Browser, address: str, page: str) -> Weight:
    """One page, in a context of its own, so that nothing is in a cache."""
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        tab = context.new_page()
        devtools, sent = context.new_cdp_session(tab), list[int]()
        slow_down(devtools)
        devtools.on("Network.loadingFinished", lambda x: sent.append(x["encodedDataLength"]))
        tab.add_init_script(WATCH)
        tab.goto(address + page, wait_until="load", timeout=120_000)
        tab.wait_for_timeout(3000)
        loads, longest, nodes = tab.evaluate(FOUND)
    return Weight(page, loads / 1000, longest / 1000, nodes, int(sum(sent)))


def slow_down(devtools: CDPSession) -> None:
    """The line and the processor of a slow phone."""
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", LINE)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def main() -> int:
    """Print the table; the exit status is 1 where a page misses an aim."""
    with tempfile.TemporaryDirectory(prefix="jaxprentice-bench-") as name:
        found = weights(site.build(Path(name, "site")))
    print(f"{'page':<18}{'loads, s':>8}{'longest task':>14}{'nodes':>9}{'kB':>8}")
    print("\n".join(x.row for x in found))
    print(f"\nThe aims: {LOADS:g} s, and no task above {LONGEST:g} s.")
    return int(any(x.is_heavy for x in found))


def weights(built: Path) -> list[Weight]:
    """Those of the pages, from a server for the built site."""
    handler = functools.partial(Compressed, directory=built)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=options
        ) as browser,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        found = [weigh(browser, address, page) for page in PAGES]
        server.shutdown()
    return found


if __name__ == "__main__":
    raise SystemExit(main())
