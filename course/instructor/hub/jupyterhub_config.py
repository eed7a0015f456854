"""A JupyterHub for one course: students fetch and submit, one account grades.

Every user has an account of the system, and servers run as these users. Put it behind a proxy with
TLS, or set `c.JupyterHub.ssl_key` and `ssl_cert`.
"""

GRADER = "grader"  # the account that owns the course directory, for all who teach
COURSE = "/home/grader/jax-course"

c = get_config()  # noqa: F821
c.JupyterHub.bind_url = "http://:8000"
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
    extension = "formgrader" if grades else "assignment_list"
    name = f"nbgrader.server_extensions.{extension}"
    spawner.args = [f"--ServerApp.jpserver_extensions={name}=True"]


c.Spawner.pre_spawn_hook = prepare
