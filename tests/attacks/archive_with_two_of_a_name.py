# title = "Submits an archive that holds the module twice"
# tries = "One program looks at the first entry, another at the last."
# kind = "folder"
# reported = "not_implemented"
# says = ["more than once"]
import warnings
import zipfile

warnings.simplefilter("ignore")
with zipfile.ZipFile(folder / "work.zip", "w") as archive:
    archive.writestr(name, "x = 1\n")
    archive.writestr(name, solution)
