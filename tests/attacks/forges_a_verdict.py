# title = "Writes a verdict to the grader"
# tries = "A message that says passed, or full points, in place of an answer."
# reported = "crashed"
# says = ["writes to the grader's channel"]
import msgpack

for words in (["passed"], [2, "verdict", "passed"], {"score": 23.0}, [2, "value", ["o", "passed"]]):
    send_everywhere(framed(msgpack.packb(words)))
