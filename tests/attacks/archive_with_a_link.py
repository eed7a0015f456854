# title = "Submits an archive that holds a link"
# tries = "Unpacked as a link, it leads to the reference."
# kind = "folder"
# reported = "not_implemented"
# says = ["is a link"]
import zipfile

with zipfile.ZipFile(folder / "work.zip", "w") as archive:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = 0o120777 << 16
    archive.writestr(entry, "@SOLUTION@")
