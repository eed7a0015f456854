# title = "Submits a text that breaks the parser"
# tries = "Brackets within brackets, and sums without end, run a parser out of stack."
# kind = "folder"
# reported = "crashed"
(folder / name).parent.mkdir()
(folder / name).write_text("x = " + "(" * 90 + "1" + "+1" * 100_000 + ")" * 90 + "\n")
