"""The worst or best class order of a learner, within a budget."""

from edgecil.io.notebook import make_callable
from edgecil.search.result import SearchResult, Trial
from edgecil.search.run_search import SearchOptions, search_orders
from edgecil.search.strategy import Strategy

__all__ = ["SearchOptions", "SearchResult", "Strategy", "Trial", "search_orders"]

make_callable(__name__, "search_orders")
