"""How the accuracy of a class-incremental learner depends on the order of its classes.

`analyze`, `compare` and `next_runs` judge a table or an experiment, `write_report` writes its page,
`run` trains, `check` says what a run would do, and `search_orders` looks for the worst order.

>>> import edgecil
>>> similarity = edgecil.build_similarity(dataset="cifar100")
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> [run.label for run in edgecil.protocol("edge", space, similarity=similarity)]
['hard', 'median', 'easy']
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
