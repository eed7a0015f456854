"""What `grade` shows while it works: a line for each result, and below them how far it has come."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Display:
    """Counts results; on a terminal a bar shows how many, how fast, and how long it will take."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.start = time.monotonic()
        self.odd = 0
        self.task = progress.add_task("", total=total, about="")

    def add(self, line: str, result: Mapping[str, Any]) -> None:
        """Show a result's line, and count it."""
        if self.progress.live.is_started:
            self.progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, flush=True)
        self.odd += bool(result.get("review"))
        done = self.progress.tasks[self.task].completed + 1
        rate = 60 * done / max(time.monotonic() - self.start, 1e-9)
        about = f"{rate:.0f} a minute, {self.odd} for manual review"
        self.progress.update(self.task, advance=1, about=about)


@contextmanager
def display(total: int) -> Iterator[Display]:
    """A display of so many results that are to come."""
    console = Console()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[about]}"))
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal and total),
    ) as progress:
        yield Display(progress, total)
