# title = "Writes replies of its own to the grader"
# tries = "Every descriptor gets messages that look like the worker's, with all likely numbers."
# reported = "crashed"
# says = ["writes to the grader's channel"]
import msgpack

for number in range(1, 200):
    send_everywhere(framed(msgpack.packb([number, "value", 12.5])))
