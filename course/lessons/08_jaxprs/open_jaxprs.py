"""Registers for a program.

Write `registers(jaxpr)`, a dict from each variable of a program to the number of the register in
which a machine keeps its value. Constants and inputs are in their registers from the beginning. An
equation reads its operands and then writes its results, and outputs are read at the end. A register
holds one value, and is free again as soon as nothing will read this value. Use as few registers as
possible, numbered from 0, so that the program still computes the same results.
"""

from minijax.jaxpr import Jaxpr, Literal, Var
