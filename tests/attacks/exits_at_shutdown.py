# title = "Ends the process with status 0 when the interpreter shuts down"
# tries = "A handler at exit turns a failing run into a success."
# reported = "not_implemented"
import atexit
import os
import threading

atexit.register(os._exit, 0)
threading._register_atexit(os._exit, 0)
