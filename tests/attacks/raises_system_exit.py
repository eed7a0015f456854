# title = "Raises SystemExit(0) at import"
# tries = "An exception that most handlers let through ends the run with status 0."
# reported = "crashed"
# says = ["cannot be imported: SystemExit"]
raise SystemExit(0)
