"""Registers for a program.

Write `registers(jaxpr)`, a dict from the variables of a program to numbers: the registers in
which a machine keeps their values. Constants and inputs are in theirs from the beginning; an
equation reads its operands and then writes its results; outputs are read at the end. A register
holds one value, and is free again as soon as nothing will read this value. Find as few registers as
possible, numbered from 0, with which the program still computes the same.
"""

from minijax.jaxpr import Jaxpr, Literal, Var
