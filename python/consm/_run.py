"""Long calls of the library, with interruption and progress.

From the main thread, a call runs on a new thread while the main one waits, so that Ctrl-C has an effect at once:
the call is asked to stop, and KeyboardInterrupt is raised within a second even if the call cannot stop. If the
call writes a checkpoint, it is waited for; a second Ctrl-C ends the wait.
"""
from __future__ import annotations

import sys
import threading
import time
import warnings
from typing import Any, Callable, Optional

from . import _lib
from ._structs import PROGRESS_FN

PATIENCE = 0.7  # seconds a call gets to stop after Ctrl-C
PERCENT = 100
SOON = 1.0  # a call that is over sooner shows no bar, unless it was asked for


class Progress:
    """The last progress of a call, and whether it should stop."""

    def __init__(self) -> None:
        self.stop = False
        self.epoch = self.epochs = 0
        self.loss = self.val_acc = self.best_val = 0.0
        self.member = self.members = 0
        self.share = 0.0
        self.choosing = False
        self.callback = PROGRESS_FN(self._hear)

    def _hear(self, _: Any, progress: Any) -> bool:
        now = progress.contents
        self.epoch, self.epochs = int(now.epoch), int(now.epochs)
        self.loss, self.val_acc, self.best_val = float(now.loss), float(now.val_acc), float(now.best_val)
        self.member, self.members = int(now.member), int(now.members)
        self.share = float(now.share)
        self.choosing = self.epochs == 0  # ConSM tries its backbones
        return self.stop


class Bar:
    """tqdm, in a terminal or a notebook; where it is missing, nothing."""

    def __init__(self, wanted: Optional[bool], title: str) -> None:
        self._bar: Any = None
        self._total = 0
        self._title = title
        self._wanted = _may_show() if wanted is None else wanted
        self._from = time.monotonic() + (SOON if wanted is None else 0.0)

    def show(self, p: Progress) -> None:
        started = p.epochs or p.share > 0
        if not self._wanted or not started or time.monotonic() < self._from:
            return
        total = PERCENT if p.choosing else p.epochs
        if self._bar is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of tqdm about widgets that are not installed
                try:
                    from tqdm.auto import tqdm
                except ImportError:
                    self._wanted = False
                    return
                self._bar = tqdm(total=total, leave=False)
        self._bar.total, self._bar.n = total, int(PERCENT * p.share) if p.choosing else p.epoch
        self._bar.unit = "%" if p.choosing else "epoch"
        self._bar.set_description(self._title + (": choosing the backbone" if p.choosing else ""), refresh=False)
        member = f"run {p.member}/{p.members}, " if p.members else ""
        self._bar.set_postfix_str(f"{member}loss {p.loss:.3f}, validation {p.best_val:.3f}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _may_show() -> bool:
    """Whether the output is a terminal or a notebook."""
    if "ipykernel" in sys.modules:
        return True
    return bool(getattr(sys.stderr, "isatty", lambda: False)())


def run(function: Callable[..., int], *arguments: Any, progress: Optional[Progress] = None,
        bar: Optional[Bar] = None, to_the_end: bool = False) -> None:
    """Calls the library as _lib.call does, but can be interrupted. Pass handles and arrays themselves, not their
    pointers: an interrupted call may continue in the background, and they must live until it ends. to_the_end:
    wait for an interrupted call, because it writes a checkpoint before it stops."""
    if threading.current_thread() is not threading.main_thread():
        _lib.call(function, *map(_lib.passed, arguments))
        return
    done: list[_lib.Outcome] = []
    fault: list[BaseException] = []
    over = threading.Event()  # not Thread.join: after KeyboardInterrupt it may return at once (Python 3.11)

    def work() -> None:
        held = (arguments, progress)
        try:
            done.append(_lib.Outcome(function, tuple(map(_lib.passed, held[0]))))
        except BaseException as raised:  # goes to the caller
            fault.append(raised)
        finally:
            over.set()

    worker = threading.Thread(target=work, name="consm", daemon=True)
    try:
        worker.start()
        while not over.wait(0.2 if bar is not None else 1.0):
            if bar is not None and progress is not None:
                bar.show(progress)
    except BaseException:
        if progress is not None:
            progress.stop = True
        over.wait(None if to_the_end and progress is not None else PATIENCE)
        raise
    finally:
        if bar is not None:
            bar.close()
    if fault:
        raise fault[0]
    done[0].settle()
