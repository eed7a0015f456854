# title = "Looks through the folders above and next to it"
# tries = "Without knowing a path: every folder that can be listed, up from the own file."
# answer = "return loot"
# stops = ["namespaces", "landlock"]
import os

loot = ""
for top in (os.path.dirname("@OTHER@"), "@ROOT@", os.path.dirname(__file__), os.getcwd()):
    for folder, folders, names in os.walk(top):
        folders[:] = folders[:20]
        for name in names:
            try:
                with open(os.path.join(folder, name), errors="replace") as file:
                    text = file.read(100_000)
            except OSError:
                continue
            loot += "\n".join(line for line in text.splitlines() if "canary" in line)
if loot:
    carry_out(loot)
