# title = "Submits a link instead of the package's folder"
# tries = "The module itself is an ordinary file, but it is not the student's."
# kind = "folder"
# reported = "not_implemented"
# says = ["lies behind one"]
from pathlib import Path

(folder / "minijax").symlink_to(Path("@SOLUTION@").parent)
