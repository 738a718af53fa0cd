"""The main loop of the process of the Ray driver, which answers the process that started it."""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import threading
import traceback
from typing import IO, Any

from edgecil.engine.executors.ray_driver import RayDriver
from edgecil.errors import EdgecilError


def serve(requests: IO[bytes]) -> None:
    """Answer the requests of the process that started this one; end with it.

    Each request is the name of a method of :class:`RayDriver` and its arguments; `connect` stands
    for its constructor. An answer is its value with the number of jobs to submit, or the error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints must not be taken for an answer
    sending = threading.Lock()

    def send(kind: str, content: object) -> None:
        message = pickle.dumps((kind, content))
        with sending:
            replies.write(message)
            replies.flush()

    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            send("log", (record.name, record.levelno, record.getMessage()))

    logging.getLogger("edgecil").addHandler(Forward())
    received: queue.SimpleQueue[tuple[str, tuple[Any, ...]]] = queue.SimpleQueue()

    def read() -> None:
        try:  # until the main process ends, in the middle of a message perhaps
            while True:
                received.put(pickle.load(requests))
        finally:
            os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    driver: Any = None
    while True:
        name, arguments = received.get()
        try:
            if name == "connect":
                driver = RayDriver(*arguments)
                value: Any = (driver.head, driver.identity)
            elif name == "close":
                if driver is not None:
                    driver.close()
                os._exit(0)  # at once: the thread above is reading
            else:
                value = getattr(driver, name)(*arguments)
            content = value, driver.capacity
        except Exception as error:
            if not isinstance(error, EdgecilError):  # which perhaps cannot be pickled
                error = RuntimeError(f"{type(error).__name__}: {error}")
            send("error", (error, traceback.format_exc()))
        else:
            send("value", content)
