"""Sequences that a language model proposes (the paper's LLM-1 and LLM-5 baselines).

The model receives the class names and the definition of a hard or an easy sequence. LLM-1 is its
first answer; LLM-5 is the fifth, after feedback on the scores of the first four.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from edgecil.classes import words_of
from edgecil.errors import UsageError
from edgecil.paper.language_model import Conversation, UnusableAnswerError
from edgecil.sequences.scores import profile
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_PROMPT = """A network learns to classify images class-incrementally: it is trained on one task \
after another, each with new classes and without the images of earlier tasks, and tested on all \
classes at the end. How accurate it is then depends on the order in which the classes come. \
Arrange the classes below into tasks so that the sequence is as {goal} as possible, that is, the \
final accuracy as {extreme} as possible.

Classes:
{classes}

There are {tasks} tasks, of {sizes} classes in this order. Use every class exactly once. Answer \
with nothing but a JSON list of tasks, each a list of class numbers."""
_FEEDBACK = """Your sequence scores S = {score:.4f}, {z:+.2f} standard deviations from the mean of \
all sequences. S is the similarity between the classes of neighbouring tasks; the more {goal} a \
sequence, the more {extreme} its S. Improve it. Answer with nothing but the JSON list of tasks."""
_EXTREME = {"hard": "low", "easy": "high"}


def propose(
    similarity: Similarity, space: SequenceSpace, goal: str, rounds: int, conversation: Conversation
) -> ClassSequence:
    """Ask a language model several times, with feedback on the score; return its last answer.

    The model sees the names of the classes; feedback uses their similarities.
    """
    read = partial(read_tasks, space=space)
    names = enumerate(map(words_of, similarity.names))
    question = _PROMPT.format(
        extreme=_EXTREME[goal],
        goal=goal,
        classes="\n".join(f"{number}: {name}" for number, name in names),
        tasks=space.tasks,
        sizes=", ".join(map(str, space.sizes)),
    )
    sequence = conversation.ask(question, read)
    for _ in range(rounds - 1):
        scores = profile(similarity, sequence)
        feedback = _FEEDBACK.format(
            score=scores.score, z=scores.z, goal=goal, extreme=_EXTREME[goal]
        )
        sequence = conversation.ask(feedback, read)
    return sequence


def read_tasks(answer: str, space: SequenceSpace) -> ClassSequence:
    """Return the sequence in an answer: its last JSON list of tasks that fits the space.

    >>> read_tasks("Not [[0, 1], [2, 3]] but [[1, 2], [0, 3]].", SequenceSpace((2, 2))).tasks
    ((1, 2), (0, 3))
    """
    problem = None
    for tasks in reversed(list(_task_lists(answer))):
        try:
            return _check_tasks(tasks, space)
        except UnusableAnswerError as error:
            problem = problem or error
    raise problem or UnusableAnswerError(
        "it contains no JSON list of tasks, each a list of class numbers."
    )


def _task_lists(answer: str) -> Iterator[list[list[Any]]]:
    """Yield every JSON list of lists in a text, in order."""
    decoder = json.JSONDecoder()
    start = answer.find("[")
    while start >= 0:
        end = start + 1
        try:
            value, end = decoder.raw_decode(answer, start)
        except ValueError:
            value = None
        except RecursionError:
            return
        if value and all(isinstance(task, list) for task in value):
            yield value
        start = answer.find("[", end)


def _class_number(answer: Any) -> Any:
    """Return digits in a text as an integer; anything else is not changed."""
    is_number = isinstance(answer, str) and answer.strip().isdecimal()
    return int(answer) if is_number else answer


def _check_tasks(tasks: list[list[Any]], space: SequenceSpace) -> ClassSequence:
    """Check that these tasks are a sequence of the space, and return it; digits may be text."""
    try:
        sequence = ClassSequence(map(_class_number, task) for task in tasks)
    except UsageError as error:
        raise UnusableAnswerError(str(error)) from error
    if sequence not in space:
        missing = sorted(set(range(space.classes)) - set(sequence.order))
        raise UnusableAnswerError(
            f"it must have each class from 0 to {space.classes - 1} once, in tasks of "
            f"{list(space.sizes)} classes. Its tasks have {list(sequence.sizes)}; missing are "
            f"{', '.join(map(str, missing)) or 'none'}."
        )
    return sequence
