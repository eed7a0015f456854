"""What runs inside the sandbox: the worker, the format of its messages, and what it does to itself.

This folder is mounted there whole, so it imports nothing of the other rooms; every room may import
it, to read and write the same messages.
"""
