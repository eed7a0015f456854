"""A JupyterHub for one course: students fetch and submit, one account grades.

Every user has an account of the system, and servers run as these users. Put it behind a proxy with
TLS, or set `c.JupyterHub.ssl_key` and `ssl_cert`.
"""

import os
import pwd
import sys
from pathlib import Path

HUB = "https://hub.example.org"  # put in yours; *.hub.example.org leads to the same machine
GRADER = "grader"  # the account that owns the course directory, for all who teach
COURSE = "/home/grader/jax-course"
EXCHANGE = "/srv/nbgrader/exchange/jaxprentice"  # the course's folder there

c = get_config()  # noqa: F821
c.JupyterHub.bind_url = "http://:8000"
# A server for each name: a page that a student writes cannot act for those who open it.
c.JupyterHub.subdomain_host = HUB
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True  # all who have an account; or name them in `allowed_users`
c.Spawner.default_url = "/lab"


def prepare(spawner):
    """Give the grader formgrader in the course directory, and students the list of assignments."""
    grades = spawner.user.name == GRADER
    if grades:
        # nbgrader reads the course's settings from the folder in which the server starts.
        spawner.cmd = ["env", f"--chdir={COURSE}", "jupyterhub-singleuser"]
        spawner.notebook_dir = COURSE
    # Either would be on by itself where nbgrader is installed by pip.
    on = {"formgrader": grades, "assignment_list": not grades}
    names = (f"nbgrader.server_extensions.{name}={on[name]}" for name in on)
    spawner.args = [f"--ServerApp.jpserver_extensions={name}" for name in names]


c.Spawner.pre_spawn_hook = prepare


def claim_exchange():
    """Make the course's folder in the exchange the grader's, before a student can make it."""
    account = pwd.getpwnam(GRADER)
    place = Path(EXCHANGE)
    if not os.path.lexists(place):
        place.mkdir()
        place.chmod(0o755)
        os.chown(place, account.pw_uid, account.pw_gid)
    if place.lstat().st_uid != account.pw_uid:
        sys.exit(f"{EXCHANGE} does not belong to {GRADER}. Remove it, then start the hub again.")


claim_exchange()
