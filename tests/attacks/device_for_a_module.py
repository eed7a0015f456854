# title = "Submits a link to an endless device"
# tries = "A reader that follows it reads for ever."
# kind = "folder"
# reported = "not_implemented"
# says = ["is a link"]
(folder / name).parent.mkdir()
(folder / name).symlink_to("/dev/zero")
