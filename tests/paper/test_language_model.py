"""Conversations with a real server on loopback, well-behaved and not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io.cache import cache_directory
from edgecil.paper.language_model import Conversation, LanguageModel, UnusableAnswerError
from tests.paper.language_server import LanguageServer, Reply, serve


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EDGECIL_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)


def model_of(server: LanguageServer, **options: float) -> LanguageModel:
    return LanguageModel("toy", server.url, "secret", retries=0, **options)


def number(answer: str) -> int:
    if not answer.isdigit():
        raise UnusableAnswerError(f"{answer!r} is no number.")
    return int(answer)


def answers(*replies: Reply | str):
    """The replies, one after another."""
    waiting = list(replies)
    return lambda messages: waiting.pop(0)


def files() -> list[str]:
    return sorted(path.name for path in (cache_directory() / "conversations").glob("*"))


def test_the_endpoint_gets_the_model_the_key_and_all_that_was_said() -> None:
    with serve(answers("1", "2")) as server:
        conversation = Conversation(model_of(server))
        assert conversation.ask("one?", number) == 1
        assert conversation.ask("two?", number) == 2
    assert [request["model"] for request in server.requests] == ["toy", "toy"]
    assert server.keys == ["Bearer secret"] * 2
    assert server.requests[1]["messages"] == [
        {"role": "user", "content": "one?"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "two?"},
    ]


def test_thoughts_are_no_part_of_the_answer() -> None:
    with serve(answers("<think>\n6? No.\n</think>\n\n7\n")) as server:
        assert Conversation(model_of(server)).ask("number?", number) == 7


def test_the_same_question_to_the_same_model_is_asked_once() -> None:
    with serve(answers("1", "2", "3")) as server, serve(answers("4")) as other:
        model, second = model_of(server), LanguageModel("toy-2", server.url, "k")
        assert [Conversation(model).ask("number?", number) for _ in range(3)] == [1, 1, 1]
        assert Conversation(model).ask("another?", number) == 2
        assert Conversation(second).ask("number?", number) == 3
        assert Conversation(model_of(other)).ask("number?", number) == 4
    assert len(server.requests) == 3


@pytest.mark.parametrize("query", ["", "?key=pa55word"])
def test_a_password_in_the_address_is_neither_stored_nor_shown(query: str) -> None:
    refusal = Reply(status=401, body=json.dumps({"error": {"message": "{url} and k3y are wrong"}}))
    with serve(answers("1", refusal)) as server:
        url = server.url.replace("http://", "http://me:pa55word@") + query
        refusal.body = (refusal.body or "").replace("{url}", f"{url} pa55word")
        model = LanguageModel("toy", url, "k3y", retries=0)
        conversation = Conversation(model)
        assert conversation.ask("one?", number) == 1
        with pytest.raises(EdgecilError, match=r"401.*wrong") as refused:
            conversation.ask("two?", number)
    (path,) = (path for path in cache_directory().rglob("*") if path.is_file())
    said = path.read_text(encoding="utf-8")
    kept = json.loads(said)
    assert [message["content"] for message in kept["messages"]] == ["one?"]
    assert (kept["answer"]["content"], kept["model"]) == ("1", "toy")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    shown = [str(model), repr(model), str(conversation.record()), str(refused.value)]
    for text in (said, str(path), *shown):
        assert "pa55word" not in text
        assert "k3y" not in text


UNUSABLE = {
    "garbage": (Reply("as a language model"), "'as a language model' is no number"),
    "truncated": (Reply("12", finish_reason="length"), "cut off"),
    "refused": (Reply(None, refusal="I cannot help with that"), "I cannot help with that"),
    "filtered": (Reply("12", finish_reason="content_filter"), "content filter"),
    "for a tool": (Reply("12", finish_reason="tool_calls"), "'tool_calls'"),
    "empty": (Reply(" "), "empty"),
    "null": (Reply(None), "empty"),
}


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_answer_is_sent_back_once_and_two_are_an_error(reply, reason) -> None:
    with serve(answers(reply, reply, reply, "7")) as server:
        with pytest.raises(DataError, match="when asked again") as caught:
            Conversation(model_of(server)).ask("number?", number)
        assert reason in str(caught.value)
        assert files() == [], "neither is remembered"
        assert Conversation(model_of(server)).ask("number?", number) == 7
    repair = server.requests[3]["messages"]
    assert [message["role"] for message in repair] == ["user", "assistant", "user"]
    assert reason in repair[-1]["content"]


BROKEN = {
    "slow": (Reply("7", delay=60.0), "did not answer .*Timeout"),
    "over its quota": (
        Reply(status=429, body='{"error": {"message": "slow down."}}'),
        r"\(HTTP 429: slow down\); check EDGECIL_LLM_MODEL",
    ),
    "forbidden": (
        Reply(status=401, body='{"error": {"message": "bad key\\nsecond line"}}'),
        r"\(HTTP 401: bad key\); check",
    ),
    "no JSON": (Reply(body="<html>hello</html>"), "did not answer"),
    "other JSON": (Reply(body='{"answer": 7}'), "did not answer"),
    "no choices": (Reply(body='{"choices": []}'), "did not answer"),
    "cut connection": (Reply("7", claimed_length=10_000), "Connection.*OPENAI_BASE_URL"),
}


@pytest.mark.parametrize(("reply", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_broken_endpoint_is_one_sentence_and_leaves_nothing_behind(reply, sentence) -> None:
    with serve(lambda messages: reply) as server:
        with pytest.raises(EdgecilError, match=sentence) as caught:
            Conversation(model_of(server, timeout=0.2 if reply.delay else 60.0)).ask(
                "number?", number
            )
        assert "\n" not in str(caught.value)
        assert files() == []


def test_a_conversation_that_broke_off_goes_on_where_it_was() -> None:
    with serve(answers("1", Reply(status=500, body="{}"), "2")) as server:
        for expected in ("500", None):
            conversation = Conversation(model_of(server))
            assert conversation.ask("one?", number) == 1
            if expected:
                with pytest.raises(EdgecilError, match=expected):
                    conversation.ask("two?", number)
            else:
                assert conversation.ask("two?", number) == 2
    assert len(server.requests) == 3


def test_the_environment_names_the_model(monkeypatch) -> None:
    with pytest.raises(PrerequisiteError, match="set EDGECIL_LLM_MODEL"):
        LanguageModel.from_environment()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert LanguageModel.from_environment("toy").base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("EDGECIL_LLM_MODEL", "other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    actual = LanguageModel.from_environment()
    assert (actual.name, actual.base_url, actual.key) == ("other", "http://localhost:1/v1", "k")
    assert LanguageModel.from_environment("toy").name == "toy"


def test_a_key_is_needed_only_to_ask() -> None:
    with serve(answers("1")) as server:
        assert Conversation(model_of(server)).ask("number?", number) == 1
        keyless = Conversation(LanguageModel("toy", server.url))
        assert keyless.ask("number?", number) == 1
        with pytest.raises(PrerequisiteError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL"):
            keyless.ask("another?", number)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"answer": 3}', '{"answer": {}}'])
def test_a_transcript_that_cannot_be_read_counts_as_absent(content) -> None:
    with serve(answers("1", "2")) as server:
        conversation = Conversation(model_of(server))
        conversation.ask("number?", number)
        conversation.transcript.write_text(content, encoding="utf-8")
        assert Conversation(model_of(server)).ask("number?", number) == 2
        assert Conversation(model_of(server)).ask("number?", number) == 2
