"""How `nbgrader collect` takes submissions out of the exchange, where students write anything.

nbgrader's own way follows links, which brings in any file that the instructor may read, takes a
folder for the work of the student whose name it has, though another may have made it, and stops at
the first one that cannot be copied. Here each folder is a student's own, ordinary files are copied,
and one student's folder does not stop the others'.
"""

import os
import pwd
import stat
import tempfile
from datetime import UTC, datetime, timedelta
from logging import Logger
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from autograder.classroom.intake import downloads
from autograder.classroom.intake import files as intake
from autograder.grading import result_files

LATER = timedelta(minutes=15)  # than its name says may a folder be made: copying takes time


class Collect(ExchangeCollect):
    """Copies each student's last submission to `submitted/`."""

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """Find the submissions that count."""
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]
        self.check_owner = False  # it is done; nbgrader's own stops at a folder that vanishes

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """What a folder's name says; a nameless student's if that is not true."""
        try:
            record: dict[str, Any] = super()._path_to_record(path)
            wrong = self._contradiction(record, os.lstat(path))
        except Exception:  # dateutil raises many kinds
            wrong = "its name is no time, or it vanished"
        if not wrong:
            return record
        self.log.warning("Left out: %s. The reason: %s.", path, wrong)
        return {"username": "", "filename": Path(path).name, "timestamp": datetime.min}

    def _contradiction(self, record: dict[str, Any], found: os.stat_result) -> str:
        """Why a folder is not the submission that it claims to be; "" if it may be."""
        student = record["username"]
        if not stat.S_ISDIR(found.st_mode):
            return "it is no folder"
        if not result_files.is_file_name(student):
            return "no student can have this name"
        if self.check_owner and student != (owner := _account(found.st_uid)):
            return (
                f"it belongs to the account {owner}. If students have no accounts of their own "
                "here, set c.ExchangeCollect.check_owner = False in nbgrader_config.py"
            )
        made = datetime.fromtimestamp(found.st_ctime, UTC).replace(tzinfo=None)
        if made - record["timestamp"] > LATER:
            name = record["filename"]
            self.log.warning("%s is later than its name says: it is of %s UTC.", name, made)
        return ""

    def do_copy(self, src: str, dest: str, log: Logger | None = None) -> None:
        """Copy a submission, as a whole or not at all."""
        goal = Path(dest)
        with tempfile.TemporaryDirectory(prefix=".collecting-", dir=goal.parent) as name:
            new = Path(name, "new")
            new.mkdir()
            self._copy_files(Path(src), new)
            new.rename(goal)

    def _copy_files(self, source: Path, goal: Path) -> None:
        left = 1000 * self.coursedir.max_dir_size
        for number, parts in enumerate(downloads.paths(source, self.coursedir.ignore)):
            if number == intake.ARCHIVE_ENTRIES or left <= 0:
                self.log.warning("Only the beginning of %s: it has too many files.", source)
                return
            # One byte too many stays too many: the intake says so to the student.
            content = downloads.beginning(source, parts, intake.ARCHIVE_LIMIT + 1)
            left -= len(content)
            Path(goal, *parts[:-1]).mkdir(parents=True, exist_ok=True)
            Path(goal, *parts).write_bytes(content)


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
