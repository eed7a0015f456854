# title = "Starts more and more threads"
# tries = "Threads are counted like processes, and a machine has only so many."
# only = "jvp.mul_rule"
# answer = "return multiply()"
import threading
import time


def multiply():
    threading.stack_size(65536)
    for _ in range(100_000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
