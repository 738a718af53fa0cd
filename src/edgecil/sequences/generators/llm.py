"""Sequences that a language model proposes (the paper's LLM-1 and LLM-5 baselines).

It is given the class names and told what a hard or an easy sequence is. LLM-1 is its first answer;
for LLM-5 it is told four times how its last answer scored, and the fifth counts.
"""

from __future__ import annotations

import json
from functools import partial

import numpy as np

from edgecil.classes import words_of
from edgecil.language_model import Conversation, LanguageModel, UnusableAnswerError
from edgecil.sequences.generators.registry import register
from edgecil.sequences.profile import profile
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


@register("llm-1", "hard", "a language model's first answer (LLM-1)", asks_model=True)
def llm_1_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """What the model takes for hard at once; all randomness is the model's."""
    return propose(similarity, space, "hard", rounds=1)


@register("llm-1", "easy", "a language model's first answer (LLM-1)", asks_model=True)
def llm_1_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """What the model takes for easy at once."""
    return propose(similarity, space, "easy", rounds=1)


@register("llm-5", "hard", "its fifth, told each time how the last scored (LLM-5)", asks_model=True)
def llm_5_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """What the model takes for hard after four rounds of feedback."""
    return propose(similarity, space, "hard", rounds=5)


@register("llm-5", "easy", "its fifth, told each time how the last scored (LLM-5)", asks_model=True)
def llm_5_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """What the model takes for easy after four rounds of feedback."""
    return propose(similarity, space, "easy", rounds=5)


def propose(
    similarity: Similarity, space: SequenceSpace, goal: str, *, rounds: int
) -> ClassSequence:
    """A language model's last answer of several, each after the first with feedback on its score.

    Args:
        similarity: its names are what the model sees, its values what it is judged by.
        space: N classes and their task sizes.
        goal: `hard` or `easy`.
        rounds: how many answers to ask for.
    """
    conversation = Conversation(LanguageModel.from_environment())
    read = partial(read_tasks, space=space)
    names = enumerate(map(words_of, similarity.names))
    question = _PROMPT.format(
        extreme=_EXTREME[goal],
        goal=goal,
        classes="\n".join(f"{number}: {name}" for number, name in names),
        tasks=space.tasks,
        sizes=", ".join(map(str, space.sizes)),
    )
    found = conversation.ask(question, read)
    for _ in range(rounds - 1):
        judged = profile(similarity, found)
        feedback = _FEEDBACK.format(
            score=judged.score, z=judged.z, goal=goal, extreme=_EXTREME[goal]
        )
        found = conversation.ask(feedback, read)
    return found


def read_tasks(answer: str, space: SequenceSpace) -> ClassSequence:
    """The sequence in an answer: a JSON list of tasks, whatever stands around it.

    >>> read_tasks("Here you are: [[1, 2], [0, 3]].", SequenceSpace((2, 2))).tasks
    ((1, 2), (0, 3))
    """
    start, end = answer.find("["), answer.rfind("]")
    try:
        tasks = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise UnusableAnswerError("it holds no JSON list of tasks.") from error
    if not isinstance(tasks, list) or not all(isinstance(task, list) for task in tasks):
        raise UnusableAnswerError("it is no list of lists.")
    order = [class_ for task in tasks for class_ in task]
    strange = [class_ for class_ in order if type(class_) is not int]
    strange += sorted(set(order) - set(range(space.classes))) if not strange else []
    if strange:
        raise UnusableAnswerError(f"{strange[0]!r} is no number of a class.")
    twice = [class_ for class_ in order if order.count(class_) > 1]
    if twice:
        raise UnusableAnswerError(f"class {twice[0]} comes more than once.")
    missing = sorted(set(range(space.classes)) - set(order))
    if missing:
        raise UnusableAnswerError(f"classes are missing: {', '.join(map(str, missing))}.")
    sizes = tuple(len(task) for task in tasks)
    if sizes != space.sizes:
        raise UnusableAnswerError(
            f"its tasks have {list(sizes)} classes instead of {list(space.sizes)}."
        )
    return ClassSequence(tasks)
