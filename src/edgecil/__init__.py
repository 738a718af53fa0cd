"""How the accuracy of a class-incremental learner depends on the order of its classes.

`analyze`, `compare` and `next_runs` judge a table or an experiment, `write_report` writes its page,
`run` trains, `check` says what a run would do, and `search_orders` looks for the worst order.
`next`, `report`, `search` and `sequences`, as the verbs of the command line are called, do the
same as `next_runs`, `write_report`, `search_orders` and `choose_sequences`.

>>> import edgecil
>>> similarity = edgecil.build_similarity(dataset="cifar100")
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> [run.label for run in edgecil.protocol("edge", space, similarity=similarity)]
['hard', 'median', 'easy']
"""

import lazy_loader as _lazy

_import_name, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_NAMED_LIKE_VERBS = {"next": "next_runs", "search": "search_orders"}


def __getattr__(name: str) -> object:
    """Return a public name, or the function that does what a verb of the command line does."""
    return _import_name(_NAMED_LIKE_VERBS.get(name, name))
