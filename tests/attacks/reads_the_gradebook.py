# title = "Reads the gradebook, and writes a better grade"
# tries = "The database lies on the same disk."
# answer = "return loot"
# stops = ["namespaces", "landlock"]
loot = "nothing"
try:
    with open("@GRADEBOOK@") as file:
        loot = carry_out(file.read())
except OSError:
    pass
try:
    with open("@GRADEBOOK@", "w") as file:
        file.write("eve has full points")
except OSError:
    pass
