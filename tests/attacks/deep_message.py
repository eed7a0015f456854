# title = "Sends a message of lists within lists, 50,000 deep"
# tries = "A reader that calls itself for each of them runs out of stack."
# answer = "return send_everywhere(framed(TEXT))"
# only = "jvp.mul_rule"
# reported = "crashed"
# says = ["writes to the grader's channel"]
TEXT = b"\x91" * 50_000 + b"\x90"
