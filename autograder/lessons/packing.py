"""ZIP archives that are the same whenever they are made of the same files."""

import io
import zipfile
from collections.abc import Collection, Iterable

WHEN = (1980, 1, 1, 0, 0, 0)


def packed(files: Iterable[tuple[str, bytes]], programs: Collection[str] = ()) -> bytes:
    """An archive of files by their paths; `programs` are the paths of those that can be run."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files:
            entry = zipfile.ZipInfo(path, WHEN)
            entry.external_attr = (0o100755 if path in programs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return content.getvalue()
