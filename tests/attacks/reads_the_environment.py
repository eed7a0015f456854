# title = "Reads its own environment"
# tries = "Variables of the grader, such as tokens, are inherited unless somebody removes them."
# answer = "raise ArithmeticError(str(dict(os.environ)))"
import os

carry_out(dict(os.environ)) if "canary" in str(os.environ) else None
