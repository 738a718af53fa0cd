"""A language model behind an OpenAI-compatible endpoint; every answer is saved with its messages.

`OPENAI_API_KEY`, `OPENAI_BASE_URL` (OpenAI's by default) and `EDGECIL_LLM_MODEL` choose the model.
Keys and passwords are never written or shown; transcripts can be read by the user alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io.cache import cache_directory
from edgecil.io.files import replace_file
from edgecil.io.json import check_checksum, with_checksum
from edgecil.io.packages import import_package
from edgecil.io.terminal import without_control_characters

_OPENAI = "https://api.openai.com/v1"
_INCOMPLETE = {
    "length": "it was cut off before its end; answer more briefly.",
    "content_filter": "it was withheld by a content filter.",
}
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class LanguageModel:
    """A model and its endpoint.

    Attributes:
        name: the model's name at the endpoint.
        base_url: the endpoint's address; it may contain a user, a password and a query.
        key: the endpoint's API key.
        timeout: seconds to wait for an answer.
        retries: further attempts after an overload, a broken connection or a timeout.
    """

    name: str
    base_url: str = field(default=_OPENAI, repr=False)
    key: str = field(default="", repr=False)
    timeout: float = 600.0
    retries: int = 2

    @classmethod
    def from_environment(cls, name: str | None = None) -> LanguageModel:
        """Return the model `name`, or the one that the environment variables choose."""
        chosen = name or os.environ.get("EDGECIL_LLM_MODEL")
        if not chosen:
            raise PrerequisiteError(
                "No language model is chosen: set EDGECIL_LLM_MODEL to its name at the endpoint."
            )
        address = os.environ.get("OPENAI_BASE_URL") or _OPENAI
        return cls(chosen, address, os.environ.get("OPENAI_API_KEY", ""))

    @property
    def address(self) -> str:
        """The endpoint's address without possible secrets: user, password, query and fragment.

        >>> LanguageModel("toy", "https://me:secret@example.org:8080/v1?key=secret").address
        'https://example.org:8080/v1'
        """
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def complete(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """Return the model's next message: `content`, `refusal` if any, and `finish_reason`."""
        openai = import_package("openai", "llm", "A language model")
        if not self.key:
            raise PrerequisiteError(
                "A language model requires OPENAI_API_KEY in the environment, and OPENAI_BASE_URL "
                "for an endpoint other than OpenAI's; a local server takes any key."
            )
        parts = urlsplit(self.base_url)
        client = openai.OpenAI(
            base_url=urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")),
            default_query=dict(parse_qsl(parts.query)),
            api_key=self.key,
            timeout=self.timeout,
            max_retries=self.retries,
        )
        request: Any = messages
        try:
            with client:
                answer = client.chat.completions.create(model=self.name, messages=request)
            choice = answer.choices[0]
            return {
                "content": choice.message.content or "",
                "refusal": choice.message.refusal,
                "finish_reason": choice.finish_reason,
            }
        except (openai.OpenAIError, AttributeError, IndexError, TypeError, ValueError) as error:
            raise EdgecilError(
                f"{self} did not answer ({self._reason(error)}); check EDGECIL_LLM_MODEL, "
                "OPENAI_BASE_URL, OPENAI_API_KEY and the network."
            ) from error

    def _reason(self, error: Exception) -> str:
        """Return the cause of an error, in one line and without secrets."""
        body = getattr(error, "body", None)
        message = body.get("message") if isinstance(body, dict) else body
        text = str(message or error).strip().partition("\n")[0]
        parts = urlsplit(self.base_url)
        parameters = [value for _, value in parse_qsl(parts.query)]
        for secret in (self.base_url, self.key, parts.password or "", *parameters):
            if secret and secret != self.address:
                text = text.replace(secret, "***")
        status = getattr(error, "status_code", None)
        cause = f"HTTP {status}" if status else type(error).__name__
        return f"{cause}: {without_control_characters(text)[:200].rstrip('.')}"

    def __str__(self) -> str:
        return f"Language model {self.name!r} at {self.address}"


class UnusableAnswerError(ValueError):
    """An answer that does not fit the question; the message is sent back to the model."""


class Conversation:
    """Questions and answers; each answer is saved in a file with all messages before it.

    The same questions to the same model are answered from these files without a new request.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.messages: list[dict[str, str]] = []

    @property
    def transcript(self) -> Path:
        """The file with the conversation, up to the last answer."""
        conversation = {**self._endpoint, "said": self.messages[:-1]}
        key = hashlib.sha256(json.dumps(conversation).encode()).hexdigest()[:32]
        return cache_directory() / "conversations" / f"{key}.json"

    def ask(self, question: str, read: Callable[[str], _Answer]) -> _Answer:
        """Return the model's answer, parsed by `read`.

        If `read` raises :class:`UnusableAnswerError`, the reason is sent back once. A second
        unusable answer is an error, and neither answer is reused.
        """
        refused = []
        for _ in range(2):
            answer = self._answer(question)
            try:
                return read(_content(answer))
            except UnusableAnswerError as error:
                problem = str(error)
                refused.append(self.transcript)
                question = f"This cannot be used: {problem} Give the whole answer again."
        for path in refused:
            path.unlink()
        raise DataError(f"{self.model} gave no usable answer, even when asked again: {problem}")

    def record(self) -> dict[str, Any]:
        """Return all messages, with the model's name and address."""
        return {**self._endpoint, "messages": list(self.messages)}

    @property
    def _endpoint(self) -> dict[str, str]:
        return {"model": self.model.name, "url": self.model.address}

    def _answer(self, question: str) -> dict[str, Any]:
        self.messages += [{"role": "user", "content": question}, {"role": "assistant"}]
        messages = self.messages[:-1]
        path = self.transcript
        answer = _saved_answer(path)
        if answer is None:
            answer = self.model.complete(messages)
            transcript = {**self._endpoint, "messages": messages, "answer": answer}
            with replace_file(path, private=True) as file:
                file.write(with_checksum(json.dumps(transcript, ensure_ascii=False).encode()))
        self.messages[-1]["content"] = answer["content"] or answer["refusal"] or ""
        return answer


def _saved_answer(path: Path) -> dict[str, Any] | None:
    """Return the answer in a transcript; None if the file is missing, incomplete or damaged."""
    try:
        data = path.read_bytes()
        check_checksum(data, str(path))
        answer = json.loads(data)["answer"]
        return {name: answer[name] for name in ("content", "refusal", "finish_reason")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError, DataError):
        return None


def _content(answer: dict[str, Any]) -> str:
    """Return the text of a complete answer, without the reasoning before it."""
    if answer["refusal"]:
        raise UnusableAnswerError(f"it was refused ({answer['refusal']}).")
    reason = answer["finish_reason"]
    if reason not in ("stop", None):
        raise UnusableAnswerError(_INCOMPLETE.get(reason, f"it ended for the reason {reason!r}."))
    content = str(answer["content"]).rpartition("</think>")[2].strip()
    if not content:
        raise UnusableAnswerError("it was empty.")
    return content
