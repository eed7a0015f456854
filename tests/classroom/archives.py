"""Unpacks ZIP archives as `unzip` does, with the files' modes; not every machine has it."""

import zipfile


def unpack(archive, folder):
    """Unpack an archive below a folder."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = folder / entry.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(packed.read(entry))
            path.chmod(entry.external_attr >> 16 & 0o777)
