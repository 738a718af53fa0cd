"""The worst or best class order of a learner, within a budget."""

from edgecil.callable_package import make_callable
from edgecil.search.result import SearchResult, Trial
from edgecil.search.run_search import search
from edgecil.search.strategy import Strategy

__all__ = ["SearchResult", "Strategy", "Trial", "search"]

make_callable(__name__, search)
