"""Everyone's settings of nbgrader on the hub: /etc/jupyter/nbgrader_config.py.

The course directory's own file, which `jaxprentice nbgrader init` writes, comes after this one.
"""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "jaxprentice"
c.Exchange.root = "/srv/nbgrader/exchange"  # of root, and everyone may write (mode 1777)
