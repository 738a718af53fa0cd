"""Where a learner's code is: its module and the local modules that it imports."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import linecache
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, UsageError


@dataclass(frozen=True)
class Source:
    """The code of a class or function.

    Attributes:
        attribute: its name in the module.
        path: the file, for code that is loaded from a file.
        module: the module's name, for code that is imported.
        files: text of the module and of the local modules that it imports, by relative path. It
            travels to machines that do not have the files.
    """

    attribute: str
    path: Path | None = None
    module: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_interactive(self) -> bool:
        """Whether it was defined in a notebook or an interactive session, not in a file."""
        return self.path is None and self.module is None

    @property
    def identity(self) -> dict[str, str]:
        """A digest of each file; it changes with the code."""
        return {name: _digest(text) for name, text in sorted(self.files.items())}

    @property
    def digest(self) -> str:
        """One digest of all files."""
        return _digest(repr(self.key[1]))

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What identifies the source within a process."""
        return f"{self.module or self.path}:{self.attribute}", tuple(self.identity.items())

    @property
    def spec(self) -> str:
        """The source as text: `path/to/file.py:Class`, `package.module:Class` or `Class`."""
        place = self.module or self.path
        return self.attribute if place is None else f"{place}:{self.attribute}"

    @property
    def label(self) -> str:
        """The file or module, for messages."""
        return self.module or str(self.path)

    def place(self, error: BaseException) -> str:
        """Return file and line of the innermost call from this code; "" if there is none."""
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            path = Path(frame.filename)
            for name, text in self.files.items():
                same_name = path.name == Path(name).name and path.is_file()
                if same_name and path.read_text(encoding="utf-8", errors="replace") == text:
                    return f"{name}, line {frame.lineno}"
        return ""


def locate_file(path: Path, attribute: str) -> Source:
    """Return the source of a class in a Python file."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise DataError(f"There is no file {path}; give a method as path/to/file.py:ClassName.")
    return Source(attribute, path=path, files=local_files(path, path.parent))


def locate_cell(method: Callable[..., Any]) -> Source:
    """Return the source of a class or function that a cell of a notebook defines.

    The modules and other cells that it uses are not part of it.
    """
    functions = [method, *vars(method).values()]  # a class itself has no code
    code = next((it.__code__ for it in functions if inspect.isfunction(it)), None)
    text = "" if code is None else "".join(linecache.getlines(code.co_filename))
    for node in ast.parse(text).body:
        own = isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == method.__name__
        if own and (segment := ast.get_source_segment(text, node)):
            return Source(method.__name__, files={"(interactive)": segment})
    raise UsageError(
        f"The source code of {method.__name__} is not available, so changes to it could not be "
        "detected; define it in a file or in a notebook."
    )


def locate_module(name: str, attribute: str) -> Source:
    """Return the source of a class in a module that can be imported."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise UsageError(
            f"There is no module {name!r}; give a method as package.module:ClassName or as "
            "path/to/file.py:ClassName."
        )
    path = Path(spec.origin)
    root = path.parent
    for _ in range(name.count(".") + (path.name == "__init__.py")):
        root = root.parent
    return Source(attribute, module=name, files=local_files(path, root))


def local_files(path: Path, root: Path) -> dict[str, str]:
    """Return the text of a module and of those under `root` that it imports, by relative path.

    Imports are read from the source without running it. For an installed package, only modules of
    the same package count.
    """
    installed = root in {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    top = path.relative_to(root).parts[0]
    texts: dict[str, str] = {}
    queue = [path]
    while queue:
        current = queue.pop()
        name = current.relative_to(root).as_posix()
        if name in texts or (installed and current.relative_to(root).parts[0] != top):
            continue
        texts[name] = current.read_text(encoding="utf-8")
        queue += _imported_files(texts[name], current, root)
    return texts


def learner_names(text: str) -> list[str]:
    r"""Return the classes in the text of a module that can learn a task; if there is none, all.

    >>> learner_names("class Network: pass\nclass Mine:\n    def fit_task(self): pass")
    ['Mine']
    """
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    learners = [
        class_
        for class_ in classes
        if any(getattr(member, "name", "") in ("fit_task", "learn") for member in class_.body)
    ]
    return [class_.name for class_ in learners or classes]


def _imported_files(text: str, path: Path, root: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(f"{path} is not valid Python: {error}.") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(root, alias.name)
        elif isinstance(node, ast.ImportFrom):
            start = root
            if node.level:
                start = path.parents[node.level - 1]
            base = node.module or ""
            for name in (base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)):
                yield from _files_of(start, name)


def _files_of(start: Path, name: str) -> Iterator[Path]:
    """Yield the files of a module and of its parent packages below a directory."""
    place = start
    for part in name.split(".") if name else []:
        place = place / part
        for path in (place.with_name(f"{part}.py"), place / "__init__.py"):
            if path.is_file():
                yield path


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
