# title = "Reads the hidden suite and shows it"
# tries = "The suite's file is opened where it lies."
# answer = "raise ValueError(loot)"
# stops = ["namespaces", "landlock"]
loot = "nothing"
try:
    with open("@SUITE@") as file:
        loot = carry_out(file.read())
except OSError:
    pass
