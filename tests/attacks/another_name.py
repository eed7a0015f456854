# title = "Submits the module under a name that looks the same"
# tries = "A space, or letters of another alphabet; on some disks they are one name."
# kind = "folder"
# reported = "not_implemented"
# says = ["is missing"]
(folder / name).parent.mkdir()
for other in ("jvp.py ", "\u0458vp.py", "jvp.py\u200b", "jvp.pyw"):
    (folder / name).with_name(other).write_text(solution)
