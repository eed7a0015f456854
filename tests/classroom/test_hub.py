"""The configuration for JupyterHub: what it says, and a hub with three accounts that runs on it.

The hub runs where JupyterHub is installed, which no layer of this repository does. The guide says
how to try it.
"""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from traitlets.config import Config

from autograder.grading import results
from autograder.lessons import assemble, manifest, places, skeleton

HUB = places.COURSE / "instructor" / "hub"
LESSON = manifest.get("interpreters")
TEACHER, DILIGENT, LAZY = "games", "news", "mail"  # accounts that every Debian has


def configured(name):
    """The settings in a file of the hub, and the names that it defines."""
    config = Config()
    known = {"get_config": lambda: config}
    exec((HUB / name).read_text(encoding="utf-8"), known)
    return config, known


def test_only_the_grader_has_formgrader_and_the_course_directory():
    config, known = configured("jupyterhub_config.py")
    found = {}
    for user in (known["GRADER"], "ada"):
        spawner = SimpleNamespace(user=SimpleNamespace(name=user), notebook_dir="", cmd=[])
        config.Spawner.pre_spawn_hook(spawner)
        found[user] = spawner.notebook_dir, spawner.cmd[:2], "formgrader" in spawner.args[0]
    course = known["COURSE"]
    assert found["grader"] == (course, ["env", f"--chdir={course}"], True)
    assert found["ada"] == ("", [], False)


def test_the_container_file_takes_files_that_are_there_and_the_paths_of_the_configuration():
    text = (HUB / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {x.split()[0] for x in lines} <= {"FROM", "RUN", "COPY", "ENV", "EXPOSE", "CMD"}
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "RUN":
            subprocess.run(["sh", "-n", "-c", rest], check=True)
        if kind == "COPY":
            assert (places.ROOT / rest.split()[0]).exists()
    for path in re.findall(r"/opt/jaxprentice/(\S+\.txt)", text):
        assert (places.ROOT / path).is_file()
    assert f"mkdir -p -m 1777 {configured('nbgrader_config.py')[0].Exchange.root}" in text
    assert json.loads(lines[-1].removeprefix("CMD "))[0] == "jupyterhub"


# ------------------------------------------------------------------------------------------
# A hub that runs

TRIAL = """
import os
from jupyterhub.spawner import LocalProcessSpawner

load_subconfig({shipped!r})
HOMES = {homes!r}
prepare = c.Spawner.pre_spawn_hook

class AtHome(LocalProcessSpawner):
    def user_env(self, env):
        return {{**super().user_env(env), "HOME": f"{{HOMES}}/{{self.user.name}}"}}

def here(spawner):
    name = "grader" if spawner.user.name == {teacher!r} else spawner.user.name
    own = type("Own", (), {{"user": type("User", (), {{"name": name}}), "cmd": spawner.cmd}})
    own.notebook_dir = f"{{HOMES}}/{{spawner.user.name}}"
    prepare(own)
    at = lambda text: text.replace("/home/grader/jax-course", f"{{HOMES}}/{teacher}/course")
    spawner.cmd, spawner.args = [at(part) for part in own.cmd], own.args
    if name != "grader":  # these accounts have no home of their own
        spawner.cmd = ["env", f"--chdir={{own.notebook_dir}}", "jupyterhub-singleuser"]
    spawner.notebook_dir = at(own.notebook_dir)

c.JupyterHub.spawner_class = AtHome
c.Spawner.pre_spawn_hook = here
c.Spawner.environment = {environment!r}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {port} + 1
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:" + str({port} + 2)
c.JupyterHub.services = [{{"name": "trial", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{
    "name": "trial", "services": ["trial"],
    "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"],
}}]
"""
TOKEN = "trial-" + "0" * 30
PORT = 18800


class Hub:
    """A hub that runs on the shipped configuration, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def ask(self, path, method="GET", **body):
        """What the hub, or a user's server, answers."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{PORT}/{path}",
            method=method,
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
            data=json.dumps(body).encode() if body else None,
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            text = answer.read().decode()
        found = json.loads(text) if text.startswith(("{", "[", '"')) else text
        return json.loads(found) if isinstance(found, str) and found.startswith("{") else found

    def wait(self, path):
        """Ask until there is an answer."""
        for _ in range(300):
            try:
                return self.ask(path)
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.5)
        raise AssertionError((self.folder / "hub.log").read_text()[-3000:])

    def start(self, user):
        """Start a user's server."""
        self.ask(f"hub/api/users/{user}", "POST")
        self.ask(f"hub/api/users/{user}/server", "POST")
        return self.wait(f"user/{user}/api/status")

    def formgrader(self, path, method="POST"):
        """Press a button of formgrader."""
        return self.ask(f"user/{TEACHER}/formgrader/api/{path}", method)

    def student(self, user, action, **more):
        """Press a button in a student's list of assignments."""
        about = {"course_id": "jaxprentice", "assignment_id": LESSON.id, **more}
        path = f"user/{user}/assignments"
        request = urllib.request.Request(
            f"http://127.0.0.1:{PORT}/{path}/{action}?{urlencode(about)}",
            method="POST",
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read())


def as_user(user, folder, *arguments, **environment):
    """Run Python as a user, in a folder."""
    about = pwd.getpwnam(user)
    how = ["setpriv", "--reuid", str(about.pw_uid), "--regid", str(about.pw_gid), "--clear-groups"]
    return subprocess.run(
        [*how, sys.executable, "-P", *arguments],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip


def prepare(folder):
    """Homes, an exchange, a course directory and the configuration; the servers' environment."""
    for place in (folder, *folder.parents[:3]):
        place.chmod(0o755)
    (folder / "exchange").mkdir()
    (folder / "exchange").chmod(0o1777)
    settings = (
        (HUB / "nbgrader_config.py")
        .read_text()
        .replace("/srv/nbgrader/exchange", str(folder / "exchange"))
    )
    (folder / "etc").mkdir()
    (folder / "etc" / "nbgrader_config.py").write_text(settings)
    for user in (TEACHER, DILIGENT, LAZY):
        (folder / user).mkdir(mode=0o700)
        os.chown(folder / user, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    environment = {"PYTHONPATH": str(places.ROOT), "JUPYTER_CONFIG_PATH": str(folder / "etc")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "TMPDIR": "/tmp"}
    environment |= {
        x: os.environ[x] for x in ("LD_LIBRARY_PATH", "JUPYTER_PATH") if x in os.environ
    }
    init = ("-m", "autograder", "nbgrader", "init", "course", "--lessons", LESSON.id, "--seed", "0")
    home = {"HOME": str(folder / TEACHER), **environment}
    as_user(TEACHER, folder / TEACHER, *init, **home)
    about = {"shipped": str(HUB / "jupyterhub_config.py"), "homes": str(folder), "port": PORT}
    about |= {"teacher": TEACHER, "environment": environment, "token": TOKEN}
    (folder / "config.py").write_text(TRIAL.format(**about))
    return environment


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """The hub, with a server for each of three accounts."""
    folder = tmp_path_factory.mktemp("hub")
    environment = prepare(folder)
    command = [sys.executable, "-m", "jupyterhub", "-f", str(folder / "config.py")]
    with (
        (folder / "hub.log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env={**environment, **os.environ}, stdout=log, stderr=log
        ) as process,
    ):
        try:
            made = Hub(folder)
            made.wait("hub/api/")
            for user in (TEACHER, DILIGENT, LAZY):
                made.start(user)
            yield made
        finally:
            process.terminate()


@pytest.mark.full
@pytest.mark.skipif(
    not find_spec("jupyterhub") or not shutil.which("configurable-http-proxy") or os.getuid() != 0,
    reason="needs JupyterHub, its proxy, and root",
)
def test_a_day_on_the_hub(hub):
    """Release, fetch, submit, collect, autograde, feedback: all by the hub's buttons."""
    for step in ("assign", "release"):
        assert hub.formgrader(f"assignment/{LESSON.id}/{step}")["success"], step
    source = assemble.read_solution(LESSON.module)
    works = {DILIGENT: source, LAZY: skeleton.make_skeleton(source, LESSON)}
    for user, text in works.items():
        assert hub.student(user, "fetch")["success"]
        about = {"type": "file", "format": "text", "content": text}
        hub.ask(f"user/{user}/api/contents/{LESSON.id}/{LESSON.module}", "PUT", **about)
        assert hub.student(user, "submit")["success"]
    assert hub.formgrader(f"assignment/{LESSON.id}/collect")["success"]
    for user in works:
        done = hub.formgrader(f"submission/{LESSON.id}/{user}/autograde")
        assert done["success"], done
    scores = {x["student"]: x["score"] for x in hub.formgrader(f"submissions/{LESSON.id}", "GET")}
    assert scores == {DILIGENT: LESSON.max_points, LAZY: 0.0}
    kept = hub.folder / TEACHER / "course" / "results" / LESSON.id
    assert results.read(kept / f"{LAZY}.json")["isolation"] in ("namespaces", "landlock")
    for step in ("generate_feedback", "release_feedback"):
        assert hub.formgrader(f"assignment/{LESSON.id}/{step}")["success"], step
    assert hub.student(LAZY, "fetch_feedback")["success"]
    (page,) = (hub.folder / LAZY / LESSON.id / "feedback").rglob("*.html")
    assert "not implemented" in page.read_text()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        hub.ask(f"user/{LAZY}/formgrader/api/assignments")
    look = f"import os; os.listdir({str(kept)!r})"
    with pytest.raises(subprocess.CalledProcessError):
        as_user(LAZY, "/", "-c", look)
