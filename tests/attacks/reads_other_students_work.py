# title = "Reads another student's submission"
# tries = "A file beside the own one is opened, directly and through a link made here."
# answer = "raise KeyError(loot)"
# stops = ["namespaces", "landlock"]
import os
import tempfile
from contextlib import suppress

loot = "nothing"
link = os.path.join(tempfile.gettempdir(), "link")
for make in (os.symlink, os.link):
    for path in ("@OTHER@", link):
        with suppress(OSError):
            with open(path) as file:
                loot = carry_out(file.read())
    with suppress(OSError):
        make("@OTHER@", link)
