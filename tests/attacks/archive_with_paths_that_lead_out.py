# title = "Submits an archive whose names lead outside"
# tries = "Unpacked without care, it writes to the parent's folder and to absolute paths."
# kind = "folder"
# reported = "not_implemented"
# says = ["leads outside"]
import zipfile

with zipfile.ZipFile(folder / "work.zip", "w") as archive:
    archive.writestr(name, solution)
    archive.writestr("../../../../@DROP@/out", "x")
    archive.writestr("@DROP@/out", "x")
