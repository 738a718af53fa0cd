"""A language model behind any OpenAI-compatible endpoint; every answer is kept with what led to it.

`OPENAI_API_KEY`, `OPENAI_BASE_URL` (OpenAI's own by default) and `EDGECIL_LLM_MODEL` say which,
`EDGECIL_LLM_TIMEOUT` how many seconds to wait for an answer.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from edgecil.errors import DataError, EdgecilError, PrerequisiteError, UsageError
from edgecil.io.files import cache_directory, replace_file

_OPENAI = "https://api.openai.com/v1"
_INCOMPLETE = {
    "length": "it was cut off before its end; answer more briefly.",
    "content_filter": "it was withheld by a content filter.",
}
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class LanguageModel:
    """Which model to ask, and where.

    Attributes:
        name: as its endpoint calls it.
        base_url: of the endpoint.
        key: the endpoint's API key.
        timeout: seconds to wait for an answer.
        retries: after an answer that did not come (overload, broken connection, timeout).
    """

    name: str
    base_url: str = _OPENAI
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    retries: int = 2

    @classmethod
    def from_environment(cls, name: str | None = None) -> LanguageModel:
        """The model that the environment variables name, or the one named here."""
        chosen = name or os.environ.get("EDGECIL_LLM_MODEL")
        if not chosen:
            raise PrerequisiteError(
                "No language model is chosen: set EDGECIL_LLM_MODEL to its name at the endpoint."
            )
        return cls(
            chosen,
            os.environ.get("OPENAI_BASE_URL") or _OPENAI,
            os.environ.get("OPENAI_API_KEY", ""),
            _timeout(os.environ.get("EDGECIL_LLM_TIMEOUT") or str(cls.timeout)),
        )

    def complete(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """The model's next message: its `content`, its `refusal` if any, and why it ended."""
        if find_spec("openai") is None:
            raise PrerequisiteError(
                "Language models need the openai package: run pip install 'edgecil[llm]'."
            )
        if not self.key:
            raise PrerequisiteError(
                "A language model needs OPENAI_API_KEY in the environment, and OPENAI_BASE_URL for "
                "an endpoint other than OpenAI's; a local server takes any key."
            )
        import openai

        client = openai.OpenAI(
            base_url=self.base_url,
            api_key=self.key,
            timeout=self.timeout,
            max_retries=self.retries,
        )
        asked: Any = messages
        try:
            with client:
                choice = client.chat.completions.create(model=self.name, messages=asked).choices[0]
                return {
                    "content": choice.message.content or "",
                    "refusal": choice.message.refusal,
                    "finish_reason": choice.finish_reason,
                }
        except openai.APITimeoutError as error:
            raise EdgecilError(
                f"{self} did not answer within {self.timeout:g} seconds; try again later, or set "
                "EDGECIL_LLM_TIMEOUT to more."
            ) from error
        except openai.RateLimitError as error:
            raise EdgecilError(
                f"{self} is overloaded or over its quota (HTTP 429): {_reason(error.body)}; try "
                "later."
            ) from error
        except openai.APIStatusError as error:
            raise EdgecilError(
                f"{self} refused the request (HTTP {error.status_code}): {_reason(error.body)}; "
                "check EDGECIL_LLM_MODEL, OPENAI_BASE_URL and OPENAI_API_KEY."
            ) from error
        except openai.APIConnectionError as error:
            raise EdgecilError(
                f"{self} cannot be reached; check OPENAI_BASE_URL and the network."
            ) from error
        except (openai.APIError, AttributeError, IndexError, TypeError, ValueError) as error:
            raise EdgecilError(
                f"{self} does not speak the OpenAI protocol: {type(error).__name__}; check "
                "OPENAI_BASE_URL."
            ) from error

    def __str__(self) -> str:
        return f"Language model {self.name!r} at {self.base_url}"


class UnusableAnswerError(ValueError):
    """An answer that is not what was asked for; the message tells the model why."""


class Conversation:
    """Questions and answers, each answer kept in a file with all that was said before it.

    The same questions to the same model are answered from these files, without asking again.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.messages: list[dict[str, str]] = []

    @property
    def transcript(self) -> Path:
        """The file that holds the conversation, up to the last answer."""
        said = {"model": self.model.name, "url": self.model.base_url, "said": self.messages[:-1]}
        key = hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]
        return cache_directory() / "conversations" / f"{key}.json"

    def ask(self, question: str, read: Callable[[str], _Answer]) -> _Answer:
        """What the model answers, as `read` understands it.

        An answer that `read` refuses by an :class:`UnusableAnswerError` is sent back once with the
        reason. If the next is no better, it is an error, and neither is remembered as an answer.
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
        failed = self.transcript.with_suffix(".failed.json")
        self.transcript.replace(failed)
        for path in refused[:-1]:
            path.unlink()
        raise DataError(
            f"{self.model} gave no usable answer, even when asked again: {problem} The "
            f"conversation is in {failed}."
        )

    def record(self) -> dict[str, Any]:
        """All that was said, and by which model."""
        return {
            "model": self.model.name,
            "url": self.model.base_url,
            "messages": list(self.messages),
        }

    def _answer(self, question: str) -> dict[str, Any]:
        self.messages += [{"role": "user", "content": question}, {"role": "assistant"}]
        path = self.transcript
        answer = _remembered(path)
        if answer is None:
            answer = self.model.complete(self.messages[:-1])
            kept = {
                "model": self.model.name,
                "url": self.model.base_url,
                "messages": self.messages[:-1],
                "answer": answer,
            }
            with replace_file(path) as file:
                file.write(json.dumps(kept, ensure_ascii=False, indent=1).encode())
        self.messages[-1]["content"] = answer["content"] or answer["refusal"] or ""
        return answer


def _remembered(path: Path) -> dict[str, Any] | None:
    """The answer in a transcript; None if there is none, or no whole one."""
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))["answer"]
        return {name: answer[name] for name in ("content", "refusal", "finish_reason")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise UsageError(f"EDGECIL_LLM_TIMEOUT must be a number of seconds above 0. Got {text!r}.")
    return seconds


def _content(answer: dict[str, Any]) -> str:
    """The text of an answer that is whole, without what a reasoning model thought aloud."""
    if answer["refusal"]:
        raise UnusableAnswerError(f"it was refused ({answer['refusal']}).")
    reason = answer["finish_reason"]
    if reason not in ("stop", None):
        raise UnusableAnswerError(_INCOMPLETE.get(reason, f"it ended for the reason {reason!r}."))
    content = str(answer["content"]).rpartition("</think>")[2].strip()
    if not content:
        raise UnusableAnswerError("it was empty.")
    return content


def _reason(body: Any) -> str:
    """What an endpoint says about an error, in one line."""
    said = body.get("message") if isinstance(body, dict) else body
    return str(said or "no reason given").strip().splitlines()[0][:200].rstrip(".")
