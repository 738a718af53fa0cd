"""A language model on loopback: a real HTTP server that speaks the OpenAI protocol."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Messages = list[dict[str, str]]


@dataclass
class Reply:
    """What the server sends: a chat completion, unless told otherwise."""

    content: str | None = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    body: str | None = None
    delay: float = 0.0
    claimed_length: int | None = None

    def text(self) -> str:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        completion = {"id": "1", "object": "chat.completion", "created": 0, "model": "toy"}
        return json.dumps({**completion, "choices": [choice]})


@dataclass
class LanguageServer:
    """Answers each request by a function of its messages, and remembers the requests."""

    answer: Callable[[Messages], Reply | str]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def serve(answer: Callable[[Messages], Reply | str]) -> Iterator[LanguageServer]:
    server = LanguageServer(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(length))
            server.requests.append(request)
            server.keys.append(self.headers["Authorization"])
            actual = server.answer(request["messages"])
            reply = Reply(actual) if isinstance(actual, str) else actual
            time.sleep(reply.delay)
            data = reply.text().encode()
            try:
                path = urlsplit(self.path).path
                self.send_response(reply.status if path == "/v1/chat/completions" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(reply.claimed_length or len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client has gone
            self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
