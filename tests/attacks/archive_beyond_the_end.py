# title = "Submits an archive whose file lies exbibytes beyond its end"
# tries = "Numbers of ZIP64 that no file can have: reading ends with an error that is not the archive's."
# kind = "folder"
# reported = "not_implemented"
# says = ["The archive is damaged"]
import struct
import zipfile

path = folder / "work.zip"
with zipfile.ZipFile(path, "w") as archive:
    archive.writestr(name, solution)
data = path.read_bytes()
start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
entry, last = bytearray(data[start:end]), bytearray(data[end:])
extra = struct.pack("<HHQ", 1, 8, 1 << 63)
struct.pack_into("<H", entry, 30, len(extra))  # how long the additions are
struct.pack_into("<I", entry, 42, 0xFFFFFFFF)  # where the file lies: see there
entry += extra
struct.pack_into("<I", last, 12, len(entry))
path.write_bytes(data[:start] + entry + last)
