"""The configuration for JupyterHub: what it says, and a hub with three accounts that runs on it.

The hub runs where JupyterHub is installed, which no layer of this repository does. The guide says
how to try it.
"""

import http.client
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import accounts
import pytest
from traitlets.config import Config

from autograder.grading import result_files
from autograder.lessons import assemble, manifest, places, skeleton

HUB = places.COURSE / "instructor" / "hub"
LESSON = manifest.get("interpreters")
TEACHER, DILIGENT, LAZY = "games", "news", "mail"  # accounts that every Debian has


PORT = 18800
ADDRESS = f"http://hub.localhost:{PORT}"
SHIPPED = {  # what an instructor puts in, and a trial
    "https://hub.example.org": ADDRESS,
    '"grader"': f'"{TEACHER}"',
    "/home/grader/jax-course": "{folder}/" + TEACHER + "/course",
    "/srv/nbgrader/exchange": "{folder}/exchange",
}


def shipped(name, folder):
    """The text of a file of the hub, for a trial in a folder."""
    text = (HUB / name).read_text(encoding="utf-8")
    for words, ours in SHIPPED.items():
        text = text.replace(words, ours.format(folder=folder))
    return text


def configured(name, folder):
    """The settings in a file of the hub, and the names that it defines."""
    config = Config()
    known = {"get_config": lambda: config}
    exec(shipped(name, folder), known)
    return config, known


@pytest.fixture
def exchange(tmp_path):
    """An exchange in which everyone may make folders."""
    made = tmp_path / "exchange"
    made.mkdir()
    made.chmod(0o1777)
    return made


@accounts.only_root
def test_only_the_grader_has_formgrader_and_the_course_directory(exchange):
    config, known = configured("jupyterhub_config.py", exchange.parent)
    found = {}
    for user in (known["GRADER"], "ada"):
        spawner = SimpleNamespace(user=SimpleNamespace(name=user), notebook_dir="", cmd=[])
        config.Spawner.pre_spawn_hook(spawner)
        found[user] = spawner.notebook_dir, spawner.cmd[:2], spawner.args
    course = known["COURSE"]
    name = "--ServerApp.jpserver_extensions=nbgrader.server_extensions."
    both = [[f"{name}formgrader={x}", f"{name}assignment_list={not x}"] for x in (True, False)]
    assert found[TEACHER] == (course, ["env", f"--chdir={course}"], both[0])
    assert found["ada"] == ("", [], both[1])


@accounts.only_root
def test_the_course_in_the_exchange_is_the_graders_before_a_student_comes(exchange):
    for _ in range(2):  # the hub starts more than once
        configured("jupyterhub_config.py", exchange.parent)
        about = (exchange / "jaxprentice").stat()
        assert (about.st_uid, stat.S_IMODE(about.st_mode)) == (pwd.getpwnam(TEACHER).pw_uid, 0o755)
    settings, _ = configured("nbgrader_config.py", exchange.parent)
    course = Path(settings.Exchange.root, settings.CourseDirectory.course_id)
    assert course == exchange / "jaxprentice"


@accounts.only_root
@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/tmp")])
def test_a_course_in_the_exchange_that_a_student_has_made_stops_the_hub(exchange, make):
    make(exchange / "jaxprentice")
    os.chown(exchange / "jaxprentice", pwd.getpwnam(LAZY).pw_uid, -1, follow_symlinks=False)
    with pytest.raises(SystemExit, match=r"does not belong to games\. Remove it"):
        configured("jupyterhub_config.py", exchange.parent)


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
    for path in re.findall(r"/opt/jaxprentice/(\S+\.(?:txt|sh))", text):
        assert (places.ROOT / path).is_file()
    assert "mkdir -p -m 1777 /srv/nbgrader/exchange" in text
    (proxy,) = re.findall(r"--before=[\d-]{10} configurable-http-proxy@\d+\.\d+\.\d+\b", text)
    assert proxy in (places.COURSE / "instructor" / "hub.md").read_text(encoding="utf-8")
    assert json.loads(lines[-1].removeprefix("CMD "))[0] == "jupyterhub"


@pytest.fixture
def image(tmp_path):
    """Words that run a script in a view of this machine with the course where the image has it."""
    course = tmp_path / "course"
    for part in ("autograder", "solutions", "requirements"):
        shutil.copytree(places.ROOT / part, course / part)
    shutil.copytree("/etc", tmp_path / "etc", symlinks=True)
    view = ["bwrap", "--cap-add", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for place in ("/home", "/srv", "/opt", "/tmp"):
        view += ["--perms", "0755", "--tmpfs", place]
    return [*view, "--bind", tmp_path / "etc", "/etc", "--bind", course, "/opt/jaxprentice"]


LOOK = """
useradd --create-home ada
as() { setpriv --reuid "$1" --regid "$1" --init-groups sh -c "$2"; }
hidden=/opt/jaxprentice/autograder/hidden/suites/jvp.py
as grader "cat $hidden /opt/jaxprentice/solutions/minijax/jvp.py" > /dev/null
as ada "ls -d ~ada/." > /dev/null
for path in ~grader/. /opt/jaxprentice/. $hidden; do
    as ada "ls -d $path 2> /dev/null" || true
done
as grader "ls -d ~ada/. 2> /dev/null" || true
as ada "mkdir /srv/nbgrader/exchange/hers"
"""


@accounts.only_root
def test_in_the_image_answers_and_hidden_tests_are_the_graders_alone(image):
    """The container file's last commands run for real; what they do is looked at by accounts."""
    text = (HUB / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    command = next(x for x in text.splitlines() if x.startswith("RUN") and "useradd" in x)
    script = f"set -eu; {command.removeprefix('RUN')}\n{LOOK}"
    done = subprocess.run(
        [*image, "--", "sh", "-c", script], capture_output=True, text=True, check=False, umask=0o022
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


# ------------------------------------------------------------------------------------------
# A hub that runs

TRIAL = """
from jupyterhub.spawner import LocalProcessSpawner

load_subconfig({shipped!r})
prepare = c.Spawner.pre_spawn_hook

class AtHome(LocalProcessSpawner):
    def user_env(self, env):
        return {{**super().user_env(env), "HOME": f"{homes}/{{self.user.name}}"}}

def here(spawner):
    prepare(spawner)
    if spawner.user.name != {teacher!r}:  # these accounts have no home of their own
        spawner.notebook_dir = f"{homes}/{{spawner.user.name}}"
        spawner.cmd = ["env", f"--chdir={{spawner.notebook_dir}}", "jupyterhub-singleuser"]

c.JupyterHub.spawner_class = AtHome
c.Spawner.pre_spawn_hook = here
c.Spawner.environment = {environment!r}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {port} + 1
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:" + str({port} + 2)
c.JupyterHub.tornado_settings = {{"slow_spawn_timeout": 120}}  # on a busy machine
c.JupyterHub.services = [{{"name": "trial", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{
    "name": "trial", "services": ["trial"],
    "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"],
}}]
"""
TOKEN = "trial-" + "0" * 30


class Hub:
    """A hub that runs on the shipped configuration, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def status_under(self, user):
        """What a request to the grader's server is answered under the name of a user's."""
        asked = http.client.HTTPConnection("127.0.0.1", PORT, timeout=300)
        name = {"Host": f"{user}.hub.localhost:{PORT}", "Authorization": f"token {TOKEN}"}
        asked.request("GET", f"/user/{TEACHER}/api/status", headers=name)
        return asked.getresponse().status

    def request(self, path, method="GET", content=None):
        """The text that the hub answers, or a user's server, each under its own name."""
        part, _, rest = path.partition("/")
        own = f"{rest.partition('/')[0]}." if part == "user" else ""
        request = urllib.request.Request(
            f"http://127.0.0.1:{PORT}/{path}",
            method=method,
            headers={
                "Authorization": f"token {TOKEN}",
                "Content-Type": "application/json",
                "Host": f"{own}hub.localhost:{PORT}",
            },
            data=content,
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.read().decode()

    def ask(self, path, method="GET", **body):
        """What the hub, or a user's server, answers."""
        text = self.request(path, method, json.dumps(body).encode() if body else None)
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
        path = f"user/{user}/assignments/{action}?{urlencode(about)}"
        return json.loads(self.request(path, "POST"))


def prepare(folder):
    """Homes, an exchange, a course directory and the configuration; the servers' environment."""
    folder.chmod(0o755)
    (folder / "exchange").mkdir()
    (folder / "exchange").chmod(0o1777)
    (folder / "etc").mkdir()
    for place, name in (("etc", "nbgrader_config.py"), (".", "jupyterhub_config.py")):
        (folder / place / name).write_text(shipped(name, folder))
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
    accounts.run_as(TEACHER, *init, cwd=folder / TEACHER, **home)
    about = {"shipped": str(folder / "jupyterhub_config.py"), "homes": str(folder), "port": PORT}
    about |= {"teacher": TEACHER, "environment": environment, "token": TOKEN}
    (folder / "config.py").write_text(TRIAL.format(**about))
    return environment


@pytest.fixture(scope="module")
def hub():
    """The hub, with a server for each of three accounts."""
    with tempfile.TemporaryDirectory() as made:  # pytest's own folders are for one account
        yield from running(Path(made))


def running(folder):
    """Start a hub in a folder, and the servers; end them all."""
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


NEEDS_A_HUB = pytest.mark.skipif(
    not find_spec("jupyterhub") or not shutil.which("configurable-http-proxy") or os.getuid() != 0,
    reason="needs JupyterHub, its proxy, and root",
)


@pytest.mark.full
@NEEDS_A_HUB
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
    assert result_files.read(kept / f"{LAZY}.json")["isolation"] in ("namespaces", "landlock")
    for step in ("generate_feedback", "release_feedback"):
        assert hub.formgrader(f"assignment/{LESSON.id}/{step}")["success"], step
    assert hub.student(LAZY, "fetch_feedback")["success"]
    (page,) = (hub.folder / LAZY / LESSON.id / "feedback").rglob("*.html")
    assert "not implemented" in page.read_text()


@pytest.mark.full
@NEEDS_A_HUB
def test_a_server_answers_under_its_own_name_only_and_formgrader_is_the_graders(hub):
    assert [hub.status_under(user) for user in (TEACHER, LAZY)] == [200, 302]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        hub.ask(f"user/{LAZY}/formgrader/api/assignments")
    course = hub.folder / TEACHER / "course"
    look = f"import os; os.listdir({str(course)!r})"
    accounts.run_as(TEACHER, "-c", look)
    with pytest.raises(AssertionError, match="PermissionError"):
        accounts.run_as(LAZY, "-c", look)
