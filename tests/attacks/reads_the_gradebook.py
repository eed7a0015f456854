# title = "Reads the gradebook, and writes a better grade"
# tries = "The database lies on the same disk."
# answer = "return loot"
# stops = ["namespaces", "landlock"]
from contextlib import suppress

loot = "nothing"
with suppress(OSError):
    with open("@GRADEBOOK@") as file:
        loot = carry_out(file.read())
with suppress(OSError):
    with open("@GRADEBOOK@", "w") as file:
        file.write("eve has full points")
