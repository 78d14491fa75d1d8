"""Ctrl-C: once stops what is going on, twice within two seconds leaves."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

WINDOW = 2.0


class Interrupts:
    """Counts presses, wherever they come from: a signal during a turn, or a key at the prompt."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self.presses = 0
        self.leaving = False

    def press(self) -> bool:
        """Note one Ctrl-C; True when it is the second within the window."""
        now = self._clock()
        if self._last is not None and now - self._last <= WINDOW:
            self.leaving = True
        self._last = now
        self.presses += 1
        return self.leaving

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within it, SIGINT counts as a press and raises KeyboardInterrupt."""
        usual = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        # an ignored SIGINT (a job in the background) stays ignored
        if not in_main or usual is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._raise)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.press()
        raise KeyboardInterrupt
