# title = "Names its process in bytes that are not text"
# tries = "The grader reads in /proc how much time the worker has taken, and the name stands beside it: one submission would end the run."
# only = "jvp.mul_rule"
import ctypes

ctypes.CDLL(None).prctl(15, b"\xff) R 1 \xfe", 0, 0, 0)
