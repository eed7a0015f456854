"""A spreadsheet.

A spreadsheet computes a cell again only if a cell that it depends on has changed. Write
`spreadsheet(f, *args)`, where `f` takes arrays and returns an array or a container of arrays. It
returns a function that takes new arguments of the same types and returns what `f` would. Each time,
an operation is evaluated only if one of its operands has changed since the last time; an array
whose entries are all the same has not. `f` itself runs once; `spreadsheet` itself evaluates all
operations once, at `args`.
"""

from minijax.tracing import trace_tree
