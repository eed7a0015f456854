"""The error that users see."""

import errno


class Problem(Exception):
    """An error of the user's or of the course's files, told without a traceback.

    The text says in one or two sentences what is wrong and what to do next.
    """

    status = 1  # with which the command ends


class Interrupted(Problem):
    """The user has stopped the command, by Ctrl-C or a signal."""

    status = 130


# What to do about an operating system's error.
REMEDIES = {
    errno.ENOSPC: "Make room on the disk",
    errno.EDQUOT: "Make room within your disk quota",
    errno.EACCES: "Let yourself read and write it",
    errno.EROFS: "Use a disk that can be written to",
    errno.ENOENT: "Make it, or name one that exists",
    errno.EEXIST: "Put a folder there, not a file",
    errno.EISDIR: "Put a file there, not a folder",
    errno.ENOTDIR: "Put a folder there, not a file",
    errno.ELOOP: "Put the file itself there, not a link",
    errno.ENAMETOOLONG: "Give a shorter name",
}


def of_system(error: OSError) -> str:
    """What went wrong with which file, and what to do."""
    what = error.strerror or str(error)
    told = f"{error.filename}: {what}" if error.filename else what
    remedy = REMEDIES.get(error.errno or 0, "Fix that")
    return f"{told}. {remedy}, then run the same command again."
