"""Every table that is shown: one function each, for the page, its files and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from edgecil.io.csv_files import CsvCell
from edgecil.io.numbers import per_cent
from edgecil.report.order_table import named_orders, rank
from edgecil.report.page_text import class_names, describe_sequence, shorten
from edgecil.report.table import Column, Table, make_table
from edgecil.statistics.verdicts import LEVEL
from edgecil.wording.metric_words import metric_words

if TYPE_CHECKING:
    from edgecil.analysis.answers import DatasetAnalysis, MethodAnalysis
    from edgecil.analysis.comparison import MethodComparison
    from edgecil.analysis.pair_verdicts import Comparison
    from edgecil.analysis.standings import ComparedGroup
    from edgecil.experiments.protocol_results import ExperimentResults, ProtocolResults
    from edgecil.experiments.status import ProtocolStatus
    from edgecil.report.order_table import OrderTable
    from edgecil.similarity.matrix import SimilaritySummary

_MOST_PAIRS = 21  # in a terminal; of more, those with the leader
_SHOWN = 50  # tasks of a sequence, and classes of a task
_BOLD = (
    "Bold: the best mean, and every method whose difference from it, on the orders of both, has an "
    "interval that includes 0."
)


# Of an analysis.


def summary_table(
    dataset: DatasetAnalysis, ranked: Sequence[str] | None = None, about: str = ""
) -> Table:
    """Mean with its interval, tail, 90 % of the runs, constructed orders, worst and best.

    The rows are `ranked`, best mean first; `about` is a sentence for the caption in LaTeX.
    """
    words, level = metric_words(dataset.metric), per_cent(dataset.level)
    over = f"{dataset.table.order_name}s" if dataset.table.counts_orders else "runs"
    counts = Column(over.split()[-1], 0)
    shown = rank(dataset) if ranked is None else ranked
    named = {name: named_orders(dataset, name) for name in shown}
    labels = dict.fromkeys(f"{it.protocol} {it.label}" for own in named.values() for it in own)
    probes = dict.fromkeys(it.label for own in named.values() for it in own if it.meaning)
    rows: list[dict[Column, CsvCell]] = []
    paper: list[dict[Column, CsvCell]] = []
    for name in shown:
        method = dataset.methods[name]
        claims, share, relation = method.claims, method.order_effect.order_share, method.correlation
        r = relation.pearson if relation is not None and relation.stable else None
        low, high = claims.mean.interval or (None, None)
        least, most = claims.next_run.interval or (None, None)
        lowest, highest = (Column(end, 1) for end in words.ends)
        ends = {lowest: claims.lowest, highest: claims.highest}
        own = {f"{it.protocol} {it.label}": it.value for it in named[name]}
        rows.append(
            {
                Column("method"): name,
                Column("mean", 1): claims.mean.value,
                Column("low", 1): low,
                Column("high", 1): high,
                Column("tail", 1): claims.tail.value,
                Column("run low", 1): least,
                Column("run high", 1): most,
                **{Column(label, 1): own.get(label) for label in labels},
                **ends,
                Column("order, %", 0): None if share is None else 100.0 * share,
                Column("r", 2, signed=True): r,
                counts: claims.order_count,
                Column("claims from"): _basis(method),
            }
        )
        between = "" if low is None else f" ({low:.1f}–{high:.1f})"
        short = {it.label: it.value for it in named[name]}
        paper.append(
            {
                Column("method"): name,
                Column("mean", 0): f"{claims.mean.value:.1f}{between}",
                Column("95 % exceed", 1): claims.tail.value,
                **({Column(label, 1): short.get(label) for label in probes} or ends),
                counts: claims.order_count,
            }
        )
    explained = {
        "low": f"Low and high are the ends of the {level} interval of the mean.",
        "tail": "95 % of runs exceed the tail.",
        "run low": f"A new run lies between 'run low' and 'run high' with probability {level}.",
        "order, %": "'Order' is the share of the variance of runs that is due to the order.",
    }
    if dataset.predictor is not None:
        explained["r"] = f"r is the correlation of {words.title} with {dataset.predictor.label}."
    columns, cells = _filled(rows)
    titles = {column.title for column in columns}
    notes = [f"In {words.unit}."] if words.unit else []
    notes += (text for key, text in explained.items() if key in titles)
    if any(one.claims.trainings > one.claims.order_count for one in dataset.methods.values()):
        notes.append(f"Worst and best are {over}, each the mean of its trainings.")
    if labels and any(one.claims.mean.validity != "measured" for one in dataset.methods.values()):
        notes.append("Constructed orders do not count for mean, worst and best.")
    extremes = f"the {' and '.join(words.ends)} {over[:-1]}"
    caption = (
        f"Mean with its {level} interval, the value that 95 % of runs exceed, and "
        f"{'grouped and spread similar classes' if probes else extremes}"
        f"{f', in {words.unit}' if words.unit else ''}. {about}"
    ).rstrip()
    table = Table(
        "summary",
        f"{words.title[0].upper()}{words.title[1:]} over {over}",
        " ".join(notes),
        columns,
        cells,
        _best_means(dataset, shown, columns),
        _BOLD,
    )
    columns, cells = _filled(paper)
    bold = _best_means(dataset, shown, columns)
    short_table = replace(table, caption=caption, columns=columns, rows=cells, bold=bold)
    return replace(table, paper=short_table)


def _filled(
    rows: Sequence[Mapping[Column, CsvCell]],
) -> tuple[tuple[Column, ...], tuple[tuple[CsvCell, ...], ...]]:
    """Columns that have a value, and their cells."""
    kept = [one for one in rows[0] if any(row[one] is not None for row in rows)] if rows else []
    return tuple(kept), tuple(tuple(row[one] for one in kept) for row in rows)


def _best_means(
    dataset: DatasetAnalysis, shown: Sequence[str], columns: Sequence[Column]
) -> frozenset[tuple[int, int]]:
    """Row and column of every mean that may be the best; none for a single method."""
    leader = rank(dataset)[0]
    place = [column.title for column in columns].index("mean")
    rows = set()
    for row, name in enumerate(shown if len(shown) > 1 else ()):
        pair = dataset.compare(leader, name)
        may_be_equal = pair is not None and pair.interval is not None and pair.better is None
        if name == leader or may_be_equal:
            rows.add((row, place))
    return frozenset(rows)


def _basis(method: MethodAnalysis) -> str:
    from edgecil.sequences.user_sequences import USER_SEQUENCES as GIVEN
    from edgecil.wording.phrases import count
    from edgecil.wording.populations import unit_of

    claims = method.claims
    orders = count(claims.order_count, unit_of(claims.population))
    if claims.mean.validity == "measured":
        return f"all {orders}"
    chosen_by = " + ".join(name for name in claims.protocols if name != GIVEN)
    return f"{orders} of {chosen_by}" if chosen_by else orders


def comparisons_table(dataset: DatasetAnalysis) -> Table:
    """Pairs of methods on the orders that both ran."""
    return _pairs_table("comparisons", dataset.comparisons)


def comparison_tables(comparison: MethodComparison) -> Iterator[Table | str]:
    """The verdicts, and a row per pair of methods and dataset."""
    from edgecil.wording.comparison_sentences import describe_comparisons

    groups = comparison.compared_groups
    reading = [comparison.reading] if comparison.reading else []
    sentences = dict.fromkeys([*reading, *describe_comparisons(groups), *comparison.notes])
    yield "".join(f"{sentence}\n" for sentence in sentences)
    pairs, note = _shown_pairs(comparison.pairs, groups)
    yield _pairs_table("differences", pairs, note)


def _shown_pairs(
    pairs: Sequence[Comparison], groups: Sequence[ComparedGroup]
) -> tuple[Sequence[Comparison], str]:
    """Return the pairs that a terminal shows: all, or of many those with the leader or baseline."""
    if len(pairs) <= _MOST_PAIRS:
        return pairs, ""
    references = {
        group.dataset: (group.against or group.leader).reference
        for group in groups
        if group.dataset is not None
    }
    shown = [pair for pair in pairs if references[pair.dataset] in pair.methods]
    return shown, f" {len(shown)} of {len(pairs)} pairs; --json has all."


_PLANNED = (
    "Verdicts are for a number of runs that was chosen beforehand; to look again after further "
    "runs, use compare's option 'anytime'."
)
_ANYTIME = "Verdicts hold however often one looks, and whenever one stops."


def _pairs_table(name: str, pairs: Sequence[Comparison], note: str = "") -> Table:
    rows: list[tuple[CsvCell, ...]] = []
    bold: set[tuple[int, int]] = set()
    several = len({pair.dataset for pair in pairs}) > 1
    for pair in pairs:
        if pair.better is not None:
            bold.add((len(rows), int(several)))
        new_run = pair.new_run_probability
        won = 100.0 * (pair.wins + pair.ties / 2.0) / pair.n
        rows.append(
            (
                *((pair.dataset,) if several else ()),
                *(pair.ahead, pair.behind, pair.n, pair.difference, pair.low, pair.high, won),
                *(None if new_run is None else 100.0 * new_run, pair.p),
            )
        )
    level = next((pair.level for pair in pairs), LEVEL)
    family = max((pair.adjusted_for for pair in pairs), default=1)
    adjusted = f"; interval and p are adjusted for {family:,} comparisons (Holm)"
    is_anytime = any(
        pair.basis == "anytime" or pair.why_no_interval == "too early" for pair in pairs
    )
    rule = _ANYTIME if is_anytime else _PLANNED
    return Table(
        name,
        "Pairs of methods",
        f"Mean difference by which a method is ahead, with low and high of its {per_cent(level)} "
        "interval, over the n orders (or runs, if orders are unknown) of both, the share of them "
        "on which it is better (ties count half), the probability that it is better in a new run, "
        f"and p, two-sided, of no mean difference{adjusted if family > 1 else ''}. "
        f"{rule}{note}",
        (
            *map(Column, ("dataset", "ahead", "behind")[not several :]),
            Column("n", 0),
            *(Column(title, 2, signed=True) for title in ("difference", "low", "high")),
            *(Column("won, %", 0), Column("new run, %", 0), Column("p", 4)),
        ),
        tuple(rows),
        frozenset(bold),
        "Bold: the better method, if the two can be told apart.",
    )


def terminal_tables(dataset: DatasetAnalysis) -> list[Table]:
    """The tables that `edgecil analyze` prints, empty ones left out."""
    pairs, note = _shown_pairs(dataset.comparisons, dataset.compared_groups)
    comparisons = _pairs_table("comparisons", pairs, note)
    tables = [summary_table(dataset), boundary_table(dataset), comparisons]
    return [table for table in tables if table.rows]


def boundary_table(dataset: DatasetAnalysis) -> Table:
    """The paper's view of each protocol, if hard, easy and random orders were run."""
    from edgecil.sequences.protocols import GOALS, find_protocol, origin_sentences

    ran = [name for name in dataset.table.protocols if name]
    extreme = {name for name in ran if {*GOALS} <= {*(find_protocol(name).constructed or ())}}
    random = {name for name in ran if find_protocol(name).constructed == ()}
    rows: list[tuple[CsvCell, ...]] = []
    for method in dataset.methods if extreme and random else ():
        for name in ran:
            values = dataset.table.orders(method, name).accuracies
            if name in extreme | random and len(values):
                ends = (float(values.min()), float(values.max()))
                rows.append((method, name, len(values), *ends, values.mean(), values.std()))
    table = Table(
        "boundaries",
        "The paper's view: boundaries by protocol",
        "Lowest and highest accuracy of each protocol's orders, and their mean and standard "
        "deviation (ddof 0) as the EDGE paper reports them. Constructed orders are not random, so "
        "these are not estimates over all orders.",
        (
            *(Column("method"), Column("protocol"), Column("orders", 0)),
            *(Column(title, 2) for title in ("lowest", "highest", "mean", "std")),
        ),
        tuple(rows),
    )
    caption = " ".join([table.caption, *origin_sentences(dataset.provenance)])
    return replace(table, paper=replace(table, caption=caption))


def orders_table(dataset: DatasetAnalysis, orders: OrderTable) -> Table:
    """Every order that was run, with the value of every method; never cut."""
    table = dataset.table
    z = orders.z
    columns = {Column(name, 1): orders.values[name].tolist() for name in dataset.methods}
    if z is not None:
        columns[Column("z", 2, signed=True)] = z.tolist()
    if (orders.repeats > 1).any():
        columns[Column("repeats", 0)] = orders.repeats.tolist()
    numbers = ([None if math.isnan(it) else it for it in column] for column in columns.values())
    names = class_names(table)
    texts = {Column("chosen by" if table.counts_orders else "run"): orders.chosen_by}
    if names:
        texts[Column("classes")] = [describe_sequence(names, it) for it in orders.sequences]
    label = "" if dataset.predictor is None else dataset.predictor.label
    explained = "" if z is None else f"; z is {label} in standard deviations from its mean"
    return Table(
        "orders",
        f"All {table.order_name}s that were run" if table.counts_orders else "All runs",
        f"Accuracy of each method in %, lowest mean first{explained}."
        f"{' Tasks are separated by |.' if names else ''}",
        (*columns, *texts),
        tuple(zip(*numbers, *texts.values(), strict=True)),
    )


# Of single answers.


def entry_table(
    title: str, entries: Iterable[Mapping[str, Any]], *fields: str, width: int | None = None
) -> Table:
    """A row per entry with these fields that are not empty; the last one is short with a width."""
    titles = [Column(one) for one in (title, *(field.replace("_", " ") for field in fields[1:]))]
    columns, cells = _filled(
        [{to: _cell(it[one]) for to, one in zip(titles, fields, strict=True)} for it in entries]
    )
    if width is not None and len(columns) > 1:
        others = zip((one.title for one in columns[:-1]), *(row[:-1] for row in cells), strict=True)
        room = width - sum(max(len(str(cell)) for cell in column) + 2 for column in others)
        cells = tuple((*row[:-1], _brief(str(row[-1] or "–"), room)) for row in cells)
    return make_table(columns, cells)


def _brief(text: str, room: int) -> str:
    """A text, its first sentence, or that without what it has in parentheses: what has room."""
    sentence = text.split(". ")[0]
    short = (one for one in (text, sentence, sentence.split(" (")[0]) if len(one) <= room)
    return next(short, shorten(text, room))


def _cell(value: Any) -> CsvCell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = ", ".join(f"{name} = {own}" for name, own in _flat(value) if name != "schedule")
    if isinstance(value, tuple) and value:
        value = f"{', '.join(value)}, …"
    return value or None


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting as text; the name of one inside another has a dot: memory.per_class."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name != "schedule":
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            listed = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
            plain = f"[{listed}]" if isinstance(value, (list, tuple)) else str(listed)
            yield f"{before}{name}", plain.lower() if isinstance(value, bool) else plain


def results_table(results: Iterable[ProtocolResults], metric: str = "accuracy") -> Table:
    """Mean, standard deviation and range of a metric, by method and protocol."""
    words = metric_words(metric)
    numbers = (Column(title, 2) for title in (f"mean {words.label}", "std", "min", "max"))
    rows = []
    for part in results:
        some = "" if part.finished == part.planned else f" of {part.planned}"
        numbers_of = (part.mean, part.std, part.min, part.max)
        rows.append((part.method, part.protocol, f"{part.finished}{some}", *numbers_of))
    meaning = words.description[0].lower() + words.description[1:]
    return make_table(
        ("method", "protocol", Column("sequences", 0), *numbers),
        rows,
        caption=f"{words.label}: {meaning} std: population standard deviation over the sequences.",
    )


def show_results(answer: ExperimentResults) -> Iterator[Table | str]:
    """What was used, a row per method and protocol, and the work done."""
    if answer.used:
        yield f"{answer.used[0].upper()}{answer.used[1:]}\n"
    yield results_table(answer.results, answer.metric)
    unit = answer.unit.removesuffix("s") if answer.trained == 1 else answer.unit
    work = f"Trained {answer.trained} {unit}, reused {answer.reused}. "
    yield f"{work if answer.trained or answer.reused else ''}Results: {answer.directory}"
    if answer.goal is not None:
        yield str(answer.goal)


def status_table(parts: Iterable[ProtocolStatus]) -> Table:
    """Finished, planned and failed runs, by method and protocol."""
    numbers = (Column(title, 0) for title in ("finished", "planned", "failed"))
    rows = ((it.method, it.protocol, it.finished, it.planned, it.failed) for it in parts)
    return make_table(("method", "protocol", *numbers), rows)


def similarity_tables(answer: SimilaritySummary) -> Iterator[Table | str]:
    """Mean similarity, and the most and least similar pairs of classes."""
    from edgecil.classes import words_of

    source = ", ".join(f"{key} {value}" for key, value in answer.source.items())
    yield f"{answer.classes} classes, similarity {answer.mean:.3f} ± {answer.std:.3f} ({source})\n"
    for title, pairs in (("most", answer.most_similar), ("least", answer.least_similar)):
        rows = ((it.similarity, " – ".join(map(words_of, it.classes))) for it in pairs)
        yield make_table((Column("", 3), f"{title} similar"), rows)
    if answer.out is not None:
        yield f"Saved to {answer.out}"


def sequence_tables(answer: Any) -> Iterator[Table | str]:
    """The tasks of each sequence in class names, below S, z and how close it is to the optimum."""
    from edgecil.classes import words_of

    for run in answer:
        title = run.label
        if run.profile is not None:
            title += f"   S = {run.profile.score:.4f}   z = {run.profile.z:+.2f}"
        if (optimum := run.certificate) is not None:
            if optimum.objective != "adjacent":
                title += f"   {optimum.objective} = {optimum.value:.4f}   z = {optimum.z:+.2f}"
            gap = f"gap to a proven bound: {optimum.gap:.0%}"
            title += f"   ({'optimal' if optimum.exact else gap})"
        rows = []
        for number, task in enumerate(run.tasks[:_SHOWN], 1):
            hidden = f" … and {len(task) - _SHOWN} more" if len(task) > _SHOWN else ""
            words = ", ".join(words_of(answer.names[class_]) for class_ in task[:_SHOWN])
            rows.append((number, words + hidden))
        more = len(run.tasks) - _SHOWN
        caption = f"… and {more} more tasks" if more > 0 else ""
        yield make_table((Column("task", 0), "classes"), rows, title=title, caption=caption)
    if answer.similarity is not None:
        yield (
            "S: similarity of neighbouring tasks (mean over class pairs times classes per task).\n"
            "z: standard deviations of S from the mean of all sequences (exact)."
        )
    yield from answer.notes
