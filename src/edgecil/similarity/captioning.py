"""Captions written by a language model: what each class looks like, in 8 to 20 words."""

from __future__ import annotations

from collections.abc import Callable

from edgecil.classes import ClassList
from edgecil.language_model import Conversation, LanguageModel, UnusableAnswerError

FEWEST_WORDS, MOST_WORDS = 8, 20

_PROMPT = """Describe in one short caption of {fewest} to {most} words what "{name}", a class of \
the image dataset "{dataset}", typically looks like: its shape, colour, texture and surroundings, \
as seen in a picture. Answer with the caption alone."""


def write_captions(
    classes: ClassList,
    model: LanguageModel,
    *,
    on_caption: Callable[[str, str], None] = lambda label, caption: None,
) -> dict[str, str]:
    """A caption for each class, by label, in label order.

    A class that was captioned before is not asked for again.

    Args:
        classes: N classes.
        model: who writes.
        on_caption: told of each label and its caption.
    """
    captions = {}
    for label, name in zip(classes.labels, classes.words, strict=True):
        question = _PROMPT.format(
            fewest=FEWEST_WORDS, most=MOST_WORDS, name=name, dataset=classes.name
        )
        captions[label] = Conversation(model).ask(question, read_caption)
        on_caption(label, captions[label])
    return captions


def read_caption(answer: str) -> str:
    """The caption in an answer, without quotation marks around it.

    >>> read_caption('"a round red fruit with a short stem and glossy skin"')
    'a round red fruit with a short stem and glossy skin'
    """
    caption = " ".join(answer.strip().strip("\"'“”`*").split())
    words = len(caption.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise UnusableAnswerError(
            f"it has {words} words instead of {FEWEST_WORDS} to {MOST_WORDS}."
        )
    return caption
