"""How the accuracy of a class-incremental learner depends on the order of its classes.

>>> import edgecil
>>> similarity = edgecil.build_similarity(dataset="cifar100")
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> [run.label for run in edgecil.protocol("edge", space, similarity=similarity)]
['hard', 'median', 'easy']
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
