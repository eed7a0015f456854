# title = "Submits a link instead of a module"
# tries = "A collector that follows it takes the reference, or the gradebook, for the submission."
# kind = "folder"
# reported = "not_implemented"
# says = ["is a link"]
(folder / name).parent.mkdir()
(folder / name).symlink_to("@SOLUTION@")
