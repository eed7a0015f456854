# title = "Submits an archive that unpacks to a gigabyte"
# tries = "A thousand times its size, in one entry."
# kind = "folder"
# reported = "not_implemented"
# says = ["larger than 256 KiB"]
import zipfile

with zipfile.ZipFile(folder / "work.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open(name, "w") as entry:
        for _ in range(1 << 8):
            entry.write(b"#" * (1 << 20))
