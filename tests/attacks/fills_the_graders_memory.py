# title = "Makes the grader keep large answers"
# tries = "Long texts with one wide letter take four times their room, and to read and to keep them takes its time."
# answer = "return many()"
# reported = "wrong_value"


def many():
    return ["x" * 99_000 + "\U0001f600"] * 10  # as much as an answer may hold
