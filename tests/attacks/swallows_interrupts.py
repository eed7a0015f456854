# title = "Swallows every exception in an endless loop"
# tries = "A time limit that is an exception never gets out."
# only = "jvp.mul_rule"
# answer = "return stay()"
# reported = "does_not_terminate"


def stay():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
