"""The systems where courses live: one file for each, with what it collects and what it exports.

A new system is one file that gives its `SYSTEM`. The registry finds it; the command's choices, the
guide's tables (`sync` writes them) and the tests' lists follow.
"""
