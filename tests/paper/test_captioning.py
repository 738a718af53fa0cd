from __future__ import annotations

import re
from pathlib import Path

import pytest

from edgecil.classes import ClassList
from edgecil.errors import DataError, UsageError
from edgecil.paper.captioning import PROMPTS, captions, read_caption
from edgecil.paper.language_model import LanguageModel, UnusableAnswerError
from edgecil.similarity.captions import check_captions
from tests.paper.language_server import Messages, serve

CLASSES = ClassList("pets", ("n01_tabby_cat", "n02_beagle"))


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))


def describe(messages: Messages) -> str:
    name = re.search(r'what "(.+?)"', messages[0]["content"])
    assert name is not None
    return f'"a {name[1]} with short fur, lying on a sofa indoors"\n'


def test_every_class_gets_a_caption_that_the_similarity_takes() -> None:
    with serve(describe) as server:
        written = captions(names=CLASSES, model=LanguageModel("toy", server.url, "k"))
    assert list(written) == list(CLASSES.labels)
    words = CLASSES.words
    assert written["n02_beagle"] == f"a {words[1]} with short fur, lying on a sofa indoors"
    assert check_captions(CLASSES, written) == tuple(written.values())
    assert all('"pets"' in request["messages"][0]["content"] for request in server.requests)
    assert len(server.requests) == 2


def test_what_was_captioned_before_a_failure_is_not_asked_again() -> None:
    broken = True

    def answer(messages: Messages) -> str:
        return "no" if broken and "beagle" in messages[0]["content"] else describe(messages)

    with serve(answer) as server:
        model = LanguageModel("toy", server.url, "k")
        with pytest.raises(DataError, match=r"1.*words.*8"):
            captions(names=CLASSES, model=model)
        assert len(server.requests) == 3
        broken = False
        assert len(captions(names=CLASSES, model=model)) == 2
        assert len(server.requests) == 4


@pytest.mark.parametrize("words", [8, 20])
def test_eight_to_twenty_words_are_taken(words) -> None:
    caption = " ".join(["word"] * words)
    assert read_caption(f"  “{caption}”\n") == caption
    assert read_caption(caption.replace(" ", "  ")) == caption


CAPTION = "a small animal with short fur lying on a sofa"
NO_CAPTION = {
    **{f"{words} words": ("word " * words, f"it has {words} words") for words in (0, 7, 21)},
    "several": (f"{CAPTION}\n\n{CAPTION} indoors", "it has 2 lines"),
    "numbered": (f"1. {CAPTION}", "numbered"),
    "here's": (f"Here’s one: {CAPTION}", "begins with 'Here’s'"),
    "sorry": ("I'm sorry, but describing this picture is not possible", 'begins with "I\'m sorry"'),
    "cannot": ("I cannot describe what this class of things looks like", "begins with 'I cannot'"),
    "an AI": ("As an AI language model, I have not seen any pictures", "begins with 'As an AI'"),
    "taken": (CAPTION.title(), "another class has the same caption"),
}


@pytest.mark.parametrize(("answer", "reason"), NO_CAPTION.values(), ids=NO_CAPTION)
def test_what_is_no_caption_of_the_class_is_refused(answer, reason) -> None:
    with pytest.raises(UnusableAnswerError, match=reason):
        read_caption(answer, taken=[CAPTION])


@pytest.mark.parametrize(
    "first", ["sure-footed goat", "surely", "heresy", "1950s red car", "hereford"]
)
def test_a_caption_may_begin_like_an_opening(first) -> None:
    caption = f"{first} {CAPTION}"
    assert read_caption(caption) == caption


def test_the_papers_prompt_is_a_choice_and_so_is_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = "Generate one concise, visually descriptive caption (8–20 words) that highlights the"
    assert PROMPTS["Paper"].startswith(paper)
    assert PROMPTS["paper"].endswith("context of a {name} lesion in medical images.")
    with pytest.raises(UsageError, match="Did you mean 'paper'"):
        captions(names=CLASSES, prompt="papers")

    def describe_shortly(messages: Messages) -> str:
        return f"{messages[0]['content']} with a short stem and a very glossy skin"

    with serve(describe_shortly) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        own = "a {name} of {dataset} {x}"
        written = captions(names=["apple", "pear"], model="toy", prompt=own)
    assert list(written) == ["apple", "pear"]
    assert server.requests[0]["messages"][0]["content"] == "a apple of names {x}"
