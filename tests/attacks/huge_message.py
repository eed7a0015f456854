# title = "Announces a message of 4 GB"
# tries = "A reader that believes the length makes room for it."
# answer = 'return send_everywhere(b"\xff\xff\xff\xff")'
# only = "jvp.mul_rule"
# reported = "crashed"
# says = ["writes to the grader's channel"]
