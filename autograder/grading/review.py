"""Why a person should look at a submission: signs of tampering, which cost no points."""

import re
from collections.abc import Collection

from autograder.sandbox.session import ENDED, FORGED, KILLED

_SENTENCES = {
    FORGED: "Something in the module writes to the grader's channel.",
    ENDED: "The module ends the process that runs it.",
    KILLED: "The process that runs the module was killed, by it or for want of memory.",
}


def notes(signs: Collection[str]) -> list[str]:
    """The sentences for the instructor; none where nothing is odd."""
    return [sentence for sign, sentence in _SENTENCES.items() if sign in signs]


# ------------------------------------------------------------------------------------------
# Which texts of errors are shown

_CLASSES = "NoneType|bool|int|float|complex|str|list|tuple|dict|set|function|method|ndarray"
# What Python says of common slips. None of it has room for what a hidden test passes.
_OF_PYTHON = re.compile(
    rf"""
    unsupported[ ]operand[ ]type\(s\)[ ]for[ ]\S{{1,3}}([ ]or[ ]pow\(\))?:
    [ ]'({_CLASSES})'[ ]and[ ]'({_CLASSES})'
    | '?({_CLASSES})'?[ ]object
    [ ](is[ ]not[ ](callable|iterable|subscriptable)|does[ ]not[ ]support[ ]item[ ]assignment)
    | (cannot[ ]unpack[ ]non-iterable|argument[ ]of[ ]type)[ ]'?({_CLASSES})'?
    [ ](object|is[ ]not[ ]iterable)
    | (list|tuple|string)([ ]assignment)?[ ]index[ ]out[ ]of[ ]range
    | (float[ ])?division[ ]by[ ]zero
    """,
    re.VERBOSE,
)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


def tells_nothing(message: str, texts: Collection[str], names: Collection[str]) -> bool:
    """Is an error's text as it was before the module ran, or Python's own about a common slip?

    Whatever else a submission says may be made of what a hidden test has passed to it.
    """
    if any(message in (text, repr(text)) for text in texts) or _OF_PYTHON.fullmatch(message):
        return True
    undefined = _UNDEFINED.fullmatch(message)
    return undefined is not None and undefined[1] in names
