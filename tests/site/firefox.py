"""Firefox as Debian has it, by WebDriver BiDi: playwright drives only a build of its own."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

import websocket

PATIENCE = 120  # seconds for an answer


class Firefox:
    """A window, and what went wrong in it."""

    def __init__(self, socket):
        self.socket, self.sent, self.wrong = socket, 0, []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded", "network.fetchError"])
        (tree,) = self.call("browsingContext.getTree")["contexts"]
        self.place = {"context": tree["context"]}

    def call(self, method, **params):
        """The answer to a command; what happens meanwhile is noted if something is wrong."""
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.sent:
            self.note(answer.get("method"), answer.get("params", {}))
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]

    def note(self, event, about):
        if event == "network.fetchError" and about["errorText"] != "NS_BINDING_ABORTED":
            self.wrong.append(f"failed: {about['request']['url']}")
        elif event == "log.entryAdded" and about["level"] == "error":
            # It says so of a formula that has only half come, too: the whole page is looked at.
            early = about["text"].startswith("Invalid markup: ")
            self.wrong += [] if early else [about["text"]]

    def open(self, url, width=1280):
        size = {"width": width, "height": 900}
        self.call("browsingContext.setViewport", **self.place, viewport=size)
        self.call("browsingContext.navigate", **self.place, url=url, wait="complete")

    def evaluate(self, code):
        """What an expression gives, as plain data; a promise is awaited."""
        expression = f"(async () => JSON.stringify(await ({code})))()"
        found = self.call(
            "script.evaluate", expression=expression, target=self.place, awaitPromise=True
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))

    def until(self, code):
        """Wait for an expression to be true."""
        again = f"() => ({code}) ? done() : setTimeout(ask, 50)"
        self.evaluate(f"new Promise((done) => {{ const ask = {again}; ask() }})")

    def press(self, *keys):
        self.perform([(kind, x) for x in keys for kind in ("keyDown", "keyUp")])

    def press_together(self, *keys):
        self.perform([("keyDown", x) for x in keys] + [("keyUp", x) for x in keys[::-1]])

    def perform(self, pressed):
        steps = [{"type": kind, "value": x} for kind, x in pressed]
        keyboard = {"type": "key", "id": "keyboard", "actions": steps}
        self.call("input.performActions", **self.place, actions=[keyboard])


# A mouse, as on a desktop: without a screen there is none.
MOUSE = "".join(f'user_pref("ui.{x}PointerCapabilities", 6);\n' for x in ("primary", "all"))


@contextlib.contextmanager
def opened(program):
    """A Firefox without a screen, with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        Path(profile, "user.js").write_text(MOUSE, encoding="utf-8")
        words = [program, "--headless", "--no-remote", "--profile", profile]
        process = subprocess.Popen(
            [*words, "--remote-debugging-port", "0", "about:blank"], text=True,
            env=os.environ | {"HOME": profile}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            found = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
            address = next(x[1] for x in found if x)
            threading.Thread(target=process.stderr.read, daemon=True).start()
            socket = websocket.create_connection(
                f"{address}/session", timeout=PATIENCE, suppress_origin=True
            )
            with contextlib.closing(socket):
                yield Firefox(socket)
        finally:
            process.terminate()
            process.wait()
