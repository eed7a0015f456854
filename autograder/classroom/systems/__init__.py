"""The systems where courses live: one file for each, with what it collects and what it exports.

A new system is one file that gives its `SYSTEM`. The registry finds it; the command's choices and
the guide's tables (`sync` writes them) follow. Two tests ask for an example of what it packs:
`DOWNLOADS` in `test_collect.py` and `PLACES` in `test_owners.py`.

nbgrader does not say where a download is from, so there all readers are asked about each entry: one
takes only names that no other system makes. If these could be anything, such as a student's id, the
name of the folder around them must tell (`wrapper`). What goes into a table passes through
`result_files.table`, after which no cell is a formula.
"""
