"""Ctrl-C: once stops what is going on, twice within two seconds leaves."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

WINDOW = 2.0


class Interrupts:
    """Counts presses, wherever they come from: a signal, or a key at the prompt.

    While it listens, a signal is raised as KeyboardInterrupt within `working` alone. At any
    other moment (the prompt being drawn, an event loop being closed) it is noted, and `owed`
    tells of it once: an exception out of the middle of a library's code would end the program,
    or be lost.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._owed = False
        self._raising = False
        self._waker: Callable[[], None] | None = None
        self.leaving = False

    def press(self) -> bool:
        """Note one Ctrl-C; True when it is the second within the window."""
        now = self._clock()
        if self._last is not None and now - self._last <= WINDOW:
            self.leaving = True
        self._last = now
        return self.leaving

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within it, SIGINT is ours."""
        usual = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        # an ignored SIGINT (a job in the background) stays ignored
        if not in_main or usual is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._heard)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within it, a signal raises KeyboardInterrupt, also one that came just before."""
        self._raising = True
        try:
            if self.owed():
                raise KeyboardInterrupt
            yield
        finally:
            self._raising = False

    @contextmanager
    def waking(self, waker: Callable[[], None]) -> Iterator[None]:
        """Within it, `waker` is called on every signal; it must not raise."""
        self._waker = waker
        try:
            yield
        finally:
            self._waker = None

    def owed(self) -> bool:
        """Whether a signal came that nobody was told of; asking settles it."""
        owed, self._owed = self._owed, False
        return owed

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.press()
        if self._raising:
            raise KeyboardInterrupt
        self._owed = True
        if self._waker is not None:
            self._waker()
