# title = "Submits bytes that are not text"
# tries = "A decoder that guesses, or stops the batch."
# kind = "folder"
# reported = "not_implemented"
# says = ["line 2"]
(folder / name).parent.mkdir()
(folder / name).write_bytes(b"x = 1\n\xff\xfe\x00bad")
