# title = "Ends the process with status 0 in a thread"
# tries = "A thread ends the process while the tests run, before a wrong answer is seen."
# says = ["The module ends the process"]
import os
import threading

threading.Timer(0.02, os._exit, (0,)).start()
