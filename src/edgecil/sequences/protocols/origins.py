"""Sentences about drawn sequences: the similarity of constructed ones, and equal sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from edgecil.sequences.protocols.protocol import LabelledSequence
from edgecil.sequences.protocols.registered import find_protocol
from edgecil.sequences.sequence import ClassSequence


def describe_source(source: Mapping[str, str]) -> str:
    """Return where a similarity comes from, in a few words.

    >>> describe_source({"encoder": "minilm", "template": "a {name}", "version": "1"})
    "minilm with 'a {name}'"
    >>> describe_source({"encoder": "class means", "samples": "2000", "features": "inputs"})
    'class means of inputs'
    """
    if "encoder" not in source:
        return source.get("file", "an unnamed matrix")
    if "features" in source:
        return f"{source['encoder']} of {source['features']}"
    template = source.get("template", "")
    return f"{source['encoder']} with {template!r}" if "{" in template else source["encoder"]


def describe_origins(provenance: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return what the constructed orders of protocols come from, by `orders of <protocols> from`.

    It names encoder, template and weights of the similarity, and the paper's encoder if it differs.

    >>> describe_origins({"edge": {"constructor": "edge", "encoder": "minilm", "version": "1"}})
    {'orders of edge from': 'minilm (weights 1), not from clip-vit-b-16 as in the paper'}
    """
    protocols: dict[str, list[str]] = {}
    for name, source in provenance.items():
        if "constructor" not in source:
            continue
        weights = f" (weights {source['version']})" if source.get("version") else ""
        published = find_protocol(name).encoder
        has_other_encoder = published not in (None, source.get("encoder"))
        note = f", not from {published} as in the paper" if has_other_encoder else ""
        protocols.setdefault(f"{describe_source(source)}{weights}{note}", []).append(name)
    return {f"orders of {', '.join(names)} from": text for text, names in protocols.items()}


def origin_sentences(provenance: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return :func:`describe_origins` as sentences."""
    return [
        f"The {orders.removesuffix(' from')} come from {origin}."
        for orders, origin in describe_origins(provenance).items()
    ]


def describe_duplicates(name: str, runs: Iterable[tuple[str, ClassSequence]]) -> str | None:
    """Return one sentence if several labels of a protocol stand for the same sequence, else None.

    >>> first, second = ClassSequence([[0], [1]]), ClassSequence([[1], [0]])
    >>> runs = [("seed-0", first), ("seed-42", first), ("seed-1993", second)]
    >>> describe_duplicates("random", runs)
    'The 3 sequences of random have 2 different orders: seed-0 and seed-42 are the same.'
    """
    labels: dict[ClassSequence, list[str]] = {}
    for label, sequence in runs:
        labels.setdefault(sequence, []).append(label)
    equal_labels = [" and ".join(group) for group in labels.values() if len(group) > 1]
    if not equal_labels:
        return None
    total = sum(map(len, labels.values()))
    orders = "one order" if len(labels) == 1 else f"{len(labels)} different orders"
    equal = ", ".join(equal_labels[:3])
    return f"The {total} sequences of {name} have {orders}: {equal} are the same."


def note_sequences(sequences: Mapping[str, Iterable[LabelledSequence]]) -> dict[str, str]:
    """Return sentences about the sequences of protocols, by their subject.

    They name labels that stand for one sequence, and what constructed sequences come from.
    """
    notes = {}
    for name, runs in sequences.items():
        labelled = list(runs)
        duplicates = describe_duplicates(name, ((run.label, run.sequence) for run in labelled))
        if duplicates is not None:
            notes[name] = duplicates
        source = next((run.source for run in labelled if run.source is not None), None)
        if source is not None and "classes" in source:
            notes["classes"] = (
                f"{describe_source(source)} has no class names: its rows are taken in label order."
            )
        if source is not None:
            notes[f"source of {name}"] = origin_sentences({name: source})[0]
    return notes
