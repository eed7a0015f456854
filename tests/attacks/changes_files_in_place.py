# title = "Renames, deletes, and changes permissions"
# tries = "What cannot be opened for writing can perhaps be replaced."
# stops = ["namespaces", "landlock"]
# reported = "not_implemented"
import os
from contextlib import suppress

for act in (
    lambda: os.rename("@OTHER@", "@DROP@/other"),
    lambda: os.unlink("@GRADEBOOK@"),
    lambda: os.mkdir("@DROP@/folder.d"),
    lambda: os.symlink("@SUITE@", "@DROP@/link"),
    lambda: os.truncate("@OTHER@", 0),
    lambda: os.mkfifo("@DROP@/pipe"),
):
    with suppress(OSError):
        act()
