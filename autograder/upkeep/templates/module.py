"""FILL IN: what this module is about, in a sentence.

FILL IN: the idea in a paragraph, and in which order the module reads: concept, data structure,
mechanism, rules, public function.
"""

from typing import Any


def first(x: Any) -> Any:
    """FILL IN: the contract: what is returned, shapes, dtypes, errors; never how it is computed.

    >>> first(2.0)
    4.0
    """
    return x + x  # FILL IN: your function; this one doubles its operand
