"""A spreadsheet.

A spreadsheet computes a cell again only if a cell that it depends on has changed. Write
`spreadsheet(f, *args)`, for an `f` that takes arrays and returns an array or a container of arrays.
It runs `f` once, and evaluates all operations once, at `args`. It returns a function that takes new
arguments of the same types and returns what `f` would return. Each call to that function evaluates
an operation only if one of its operands has changed since the last time; an array whose entries are
the same as before has not changed.
"""

from minijax.tracing import trace_tree
