# title = "Reads the reference and takes its place"
# tries = "The solution's file is opened where it lies, run, and shown."
# answer = "return loot or 'no'"
# stops = ["namespaces", "landlock"]
loot = ""
try:
    with open("@SOLUTION@") as file:
        loot = file.read()
except OSError:
    pass
if loot:
    exec(compile(loot, __file__, "exec"), globals())
    carry_out(loot[-200:])
