# title = "Forges a syntax error with text of its own"
# tries = "Syntax errors are shown with their message, so one is sent in place of the import's reply."
# reported = "crashed"
import struct
import sys

import msgpack

main = sys.modules["__main__"]
main.Server.load = lambda self: ["syntax_error", "loot from the tree", 1, 1]
main.Server.answer = lambda self, request: ["syntax_error", "loot from the tree", 1, 1]
raise SyntaxError("<b>loot from the tree</b>")
