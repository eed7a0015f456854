# title = "Submits a FIFO instead of a module"
# tries = "Whoever opens it waits for a writer."
# kind = "folder"
# reported = "not_implemented"
# says = ["not an ordinary file"]
import os

(folder / name).parent.mkdir()
os.mkfifo(folder / name)
