"""A scripted model behind a real HTTP server on loopback.

Everything but the choice of the words is real: streamed chat completions in small deltas, token
counts from the request that came, finish reasons, calls with ids, errors with their status.
"""

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from harness.model.playback import Answer, error_body
from harness.model.script import Script, ScriptedReply

if TYPE_CHECKING:
    from harness.model.scripted_http import ScriptedHTTPServer


class ScriptedServer:
    """Serves a script until the `with` block ends. `requests` are the bodies of the POSTs."""

    def __init__(self, script: Script, port: int = 0) -> None:
        """Port 0 takes a free one."""
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self._port = port
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server: ScriptedHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """Such as `http://127.0.0.1:40123/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        from harness.model.scripted_http import ScriptedHTTPServer

        self._server = ScriptedHTTPServer(self, self._port)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def answer(self, body: dict[str, Any]) -> Answer:
        """Record a request and choose its answer."""
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
        replies = self.script.replies
        if number > len(replies) and self.script.after_last == "error":
            message = f"the script has {len(replies)} replies and this is request {number}"
            return Answer(
                ScriptedReply(status=400, body=error_body(message)), number, self.script, body
            )
        return Answer(replies[min(number, len(replies)) - 1], number, self.script, body)

    def sleep(self, seconds: float) -> None:
        """Wait, but not longer than the server runs."""
        self._stopping.wait(seconds)
