"""The error that users see."""


class Problem(Exception):
    """An error of the user's or of the course's files, told without a traceback.

    The text says in one or two sentences what is wrong and what to do next.
    """

    status = 1  # with which the command ends


class Interrupted(Problem):
    """The user has stopped the command, by Ctrl-C or a signal."""

    status = 130
