"""Why a person should look at a submission: signs of tampering, which cost no points."""

from collections.abc import Collection

from autograder.sandbox.session import ENDED, FORGED, KILLED

_SENTENCES = {
    FORGED: "Something in the module writes to the grader's channel.",
    ENDED: "The module ends the process that runs it.",
    KILLED: "The process that runs the module was killed, by it or for lack of memory.",
}


def notes(signs: Collection[str]) -> list[str]:
    """The sentences for the instructor; none where nothing is odd."""
    return [sentence for sign, sentence in _SENTENCES.items() if sign in signs]


def faults(unhandled: Collection[str]) -> list[str]:
    """The sentence about what went wrong in the grader itself with a submission's answers."""
    places = "; ".join(list(unhandled)[:3])
    return [f"The grader could not handle what the module returns ({places})."] if places else []
