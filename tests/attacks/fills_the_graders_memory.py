# title = "Makes the grader keep large answers"
# tries = "Long texts with one wide letter take four times their room, and the grader keeps them all."
# answer = "return many()"
# reported = "wrong_type_or_exception"


def many():
    return ["x" * 99_000 + "\U0001f600"] * 150
