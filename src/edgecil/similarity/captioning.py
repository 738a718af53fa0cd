"""Captions written by a language model: what each class looks like, in 8 to 20 words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial

from edgecil.classes import ClassList
from edgecil.io.language_model import Conversation, LanguageModel, UnusableAnswerError

FEWEST_WORDS, MOST_WORDS = 8, 20

_PROMPT = """Describe in one short caption of {fewest} to {most} words what "{name}", a class of \
the image dataset "{dataset}", typically looks like: its shape, colour, texture and surroundings, \
as seen in a picture. Answer with the caption alone."""
# What stands before a caption, or instead of one.
_NUMBERED = re.compile(r"(\d+[.):]|[-*•#])\s")
_OPENING = re.compile(
    r"(sure[\s,!.:]|certainly|of course|here(’|')?( i)?s\b|here are|caption:|(i(’|'| a)m )?sorry"
    r"|i can(not|(’|')t)|i(’|'| a)m unable|as an ai)",
    re.IGNORECASE,
)


def write_captions(
    classes: ClassList,
    model: LanguageModel,
    *,
    on_caption: Callable[[str, str], None] = lambda label, caption: None,
) -> dict[str, str]:
    """A caption for each class, by label, in label order.

    A class that was captioned before is not asked for again; no two classes have one caption.

    Args:
        classes: N classes.
        model: who writes.
        on_caption: told of each label and its caption.
    """
    captions: dict[str, str] = {}
    for label, name in zip(classes.labels, classes.words, strict=True):
        question = _PROMPT.format(
            fewest=FEWEST_WORDS, most=MOST_WORDS, name=name, dataset=classes.name
        )
        read = partial(read_caption, taken=captions.values())
        captions[label] = Conversation(model).ask(question, read)
        on_caption(label, captions[label])
    return captions


def read_caption(answer: str, taken: Collection[str] = ()) -> str:
    """The caption in an answer, without quotation marks around it.

    Args:
        answer: of a language model.
        taken: captions of other classes.

    >>> read_caption('"a round red fruit with a short stem and glossy skin"')
    'a round red fruit with a short stem and glossy skin'
    """
    if _NUMBERED.match(answer.strip()):
        raise UnusableAnswerError("it is numbered like a list; give the caption alone.")
    lines = [line for line in answer.splitlines() if line.strip()]
    if len(lines) > 1:
        raise UnusableAnswerError(f"it has {len(lines)} lines instead of one caption.")
    caption = " ".join(answer.strip().strip("\"'“”`*").split())
    opening = _OPENING.match(caption)
    if opening:
        raise UnusableAnswerError(f"it begins with {opening[0].strip()!r}; give the caption alone.")
    if caption.lower() in (other.lower() for other in taken):
        raise UnusableAnswerError("another class has the same caption; say what sets this apart.")
    words = len(caption.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise UnusableAnswerError(
            f"it has {words} words instead of {FEWEST_WORDS} to {MOST_WORDS}."
        )
    return caption
