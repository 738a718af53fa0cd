"""Captions written by a language model: how each class looks, in 8 to 20 words."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path

from edgecil.io.files import check_new
from edgecil.io.progress_bar import Progress
from edgecil.paper.language_model import Conversation, LanguageModel, UnusableAnswerError
from edgecil.registry import Registry
from edgecil.similarity.build import Names, find_classes
from edgecil.similarity.captions import check_caption_path, save_captions

FEWEST_WORDS, MOST_WORDS = 8, 20

_DEFAULT = """Describe in one short caption of {fewest} to {most} words what "{name}", a class of \
the image dataset "{dataset}", typically looks like: its shape, colour, texture and surroundings, \
as seen in a picture. Answer with the caption alone."""
# The prompt of the paper's appendix on professional images, word for word.
_PAPER = (
    "Generate one concise, visually descriptive caption (8\u201320 words) that highlights the "
    "typical visual appearance, color, texture, and anatomical context of a {name} lesion in "
    "medical images."
)
DEFAULT_PROMPT = "default"
PROMPTS: Registry[str] = Registry("prompt", {DEFAULT_PROMPT: _DEFAULT, "paper": _PAPER})
# Beginnings of answers that are not captions.
_NUMBERED = re.compile(r"(\d+[.):]|[-*•#])\s")
_OPENING = re.compile(
    r"(sure[\s,!.:]|certainly|of course|here(’|')?( i)?s\b|here are|caption:|(i(’|'| a)m )?sorry"
    r"|i can(not|(’|')t)|i(’|'| a)m unable|as an ai)",
    re.IGNORECASE,
)


def captions(
    *,
    dataset: str | None = None,
    names: Names | None = None,
    model: str | LanguageModel | None = None,
    prompt: str = DEFAULT_PROMPT,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, str]:
    """Return captions of a dataset's classes by a language model, by label and in label order.

    Args:
        dataset: a dataset's name, a folder of images or an .npz file.
        names: class names, in place of the dataset's: a file, or the name of a class list. In
            Python also a list.
        model: name of the model at the endpoint in OPENAI_BASE_URL; EDGECIL_LLM_MODEL by default.
            In Python also a model.
        prompt: `default`, `paper` (for medical images), or a text with `{name}` in it.
        out: .json file to save the captions to.
        overwrite: replace the file if it exists.
        progress: whether to show progress on stderr, as :func:`edgecil.run` does.
    """
    if out is not None:
        check_new(check_caption_path(out), overwrite=overwrite)
    classes = find_classes(dataset, names)
    text = prompt if "{name}" in prompt else PROMPTS[prompt]
    if not isinstance(model, LanguageModel):
        model = LanguageModel.from_environment(model)
    caption_of_label: dict[str, str] = {}
    with Progress("captions", shown=progress) as bar:
        bar.start(len(classes))
        for label, name in zip(classes.labels, classes.words, strict=True):
            fields = {
                "fewest": str(FEWEST_WORDS),
                "most": str(MOST_WORDS),
                "dataset": classes.name,
                "name": name,
            }
            question = text
            for field, value in fields.items():
                question = question.replace(f"{{{field}}}", value)
            read = partial(read_caption, taken=caption_of_label.values())
            caption_of_label[label] = Conversation(model).ask(question, read)
            bar.advance(f"{label}: {caption_of_label[label]}")
    if out is not None:
        save_captions(caption_of_label, out)
    return caption_of_label


def read_caption(answer: str, taken: Collection[str] = ()) -> str:
    """Return the caption in an answer, without quotation marks; `taken` are other captions.

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
        raise UnusableAnswerError(
            "another class has the same caption; describe how this one differs."
        )
    words = len(caption.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise UnusableAnswerError(
            f"it has {words} words instead of {FEWEST_WORDS} to {MOST_WORDS}."
        )
    return caption
