# title = "Submits a module of 300 MB"
# tries = "A reader without a limit fills its memory; the file takes no room, for it is empty inside."
# kind = "folder"
# reported = "not_implemented"
# says = ["is larger than 256 KiB"]
(folder / name).parent.mkdir()
with (folder / name).open("wb") as file:
    file.truncate(300 << 20)
