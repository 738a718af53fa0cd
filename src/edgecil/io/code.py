"""Code of the user: where it is, the local modules that it imports, and how it is loaded."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import re
import sys
import sysconfig
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

from edgecil.errors import (
    DataError,
    EdgecilError,
    PrerequisiteError,
    UsageError,
    format_value,
    unknown_name_error,
)
from edgecil.io.file_reads import FileUse, recording

_file_uses: dict[tuple[str, str], FileUse] = {}  # by spec and digest of a source

_PRIVATE = "edgecil_code_"  # begins the names of modules that edgecil imports by path
_SCRIPT = ("__main__", "__mp_main__")  # the latter while a worker process imports it


class WorkerExit(SystemExit):
    """The end of a worker process that edgecil itself asks for."""


class ForeignExitError(EdgecilError):
    """Code of the user called `sys.exit`, which would end edgecil without a message."""


@contextmanager
def refusing_exit(what: str) -> Iterator[None]:
    """Turn `sys.exit` of the user's code into an error that names the code."""
    try:
        yield
    except WorkerExit:
        raise
    except SystemExit as error:
        raise ForeignExitError(exit_sentence(what, error)) from error


def exit_sentence(what: str, error: SystemExit) -> str:
    """Return a sentence about code that called `sys.exit`."""
    return (
        f"{what} called sys.exit({format_value(error.code)}); let it return, or raise an error "
        "that says what is wrong."
    )


@dataclass(frozen=True)
class CodeSource:
    """The code of a class or function: an `attribute` of a file (`path`) or of a `module`.

    `files` are the texts of the module and of the local modules that it imports, by relative path;
    they travel to machines that do not have the files.
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
        return _digest(repr(tuple(self.identity.items())))

    @property
    def folder(self) -> Path:
        """The folder of the file or package; of an interactive session the working directory."""
        if self.path is not None:
            return self.path.parent
        spec = None
        if self.module is not None:
            with suppress(ImportError, ValueError):
                spec = importlib.util.find_spec(self.module.partition(".")[0])
        if spec is None or spec.origin is None:
            return Path.cwd()
        return Path(spec.origin).parent

    @property
    def paths(self) -> list[Path]:
        """The files on the machine where the source was located."""
        is_package = self.module is not None and any("/" in name for name in self.files)
        root = self.folder.parent if is_package else self.folder
        return [root / name for name in self.files]

    @property
    def spec(self) -> str:
        """The source as text: `path/to/file.py:Class`, `package.module:Class` or `Class`."""
        place = self.module or self.path
        return self.attribute if place is None else f"{place}:{self.attribute}"

    def place(self, error: BaseException) -> str:
        """Return file and line of the innermost call from this code; "" if there is none."""
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            path = Path(frame.filename)
            for name, text in self.files.items():
                same_name = path.name == Path(name).name and path.is_file()
                if same_name and path.read_text(encoding="utf-8", errors="replace") == text:
                    return f"{name}, line {frame.lineno}"
        return ""


def locate_file(path: Path, attribute: str) -> CodeSource:
    """Return the source of a class in a Python file."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise DataError(f"There is no file {path}; give your code as path/to/file.py:name.")
    return CodeSource(attribute, path=path, files=local_files(path, path.parent))


def locate_cell(method: Callable[..., Any]) -> CodeSource:
    """Return the source of a class or function that a cell of a notebook defines.

    The modules and other cells that it uses are not part of it.
    """
    text = ""
    for member in (method, *vars(method).values()):  # a class itself has no code
        if inspect.isfunction(member):
            text = "".join(linecache.getlines(member.__code__.co_filename))
            break
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == method.__name__:
            segment = ast.get_source_segment(text, node)
            if segment:
                return CodeSource(method.__name__, files={"(interactive)": segment})
    raise UsageError(
        f"The source code of {method.__name__} is not available, so changes to it could not be "
        "detected; define it in a file or in a notebook."
    )


def locate_module(name: str, attribute: str) -> CodeSource:
    """Return the source of a class in a module that can be imported."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise UsageError(
            f"There is no module {name!r}; give your code as package.module:name or as "
            "path/to/file.py:name."
        )
    path = Path(spec.origin)
    root = path.parents[name.count(".") + (path.name == "__init__.py")]
    return CodeSource(attribute, module=name, files=local_files(path, root))


def locate_code(spec: str) -> CodeSource:
    """Return the source of `path/to/file.py:name` or `package.module:name`."""
    target, _, attribute = spec.rpartition(":")
    if attribute.endswith(".py"):
        text = locate_file(Path(spec), "").files[Path(spec).name]
        names = re.findall(r"^(?:class|def) ([^\W_]\w*)", text, re.MULTILINE)[:3] or ["name"]
        choice = " or ".join(f"{spec}:{name}" for name in names)
        raise UsageError(f"{spec} is a file; add the name of a class or function in it: {choice}.")
    if target.endswith(".py"):
        return locate_file(Path(target), attribute)
    return locate_module(target, attribute)


def names_code(text: str) -> bool:
    """Return whether a text is meant for :func:`locate_code`."""
    target, _, attribute = text.rpartition(":")
    return (len(target) > 1 and attribute.isidentifier()) or attribute.endswith(".py")


def call_factory(factory: Callable[..., Any], what: str) -> Any:
    """Return what the user's function without parameters makes; an error names the function."""
    for parameter in inspect.signature(factory).parameters.values():
        is_variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not is_variadic:
            raise UsageError(f"{what} must be a function without required parameters.")
    try:
        with refusing_exit(what):
            return factory()
    except EdgecilError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}".split("\n")[0]
        raise PrerequisiteError(f"{what} cannot be loaded ({cause}).") from error


def locate_object(member: Callable[..., Any]) -> CodeSource:
    """Return the source of a class or function of a module, a script or a notebook."""
    module = sys.modules.get(member.__module__)
    path = getattr(module, "__file__", None)
    if path is None:
        return locate_cell(member)
    if member.__module__ not in _SCRIPT:
        return locate_module(member.__module__, member.__qualname__)
    source = locate_file(Path(path), member.__qualname__)
    if _is_guarded(source.files[Path(path).name], member.__qualname__):
        raise UsageError(
            f'{member.__qualname__} is defined below `if __name__ == "__main__":`, which worker '
            f"processes do not run; define it above that line of {path}."
        )
    return source


def _is_guarded(text: str, name: str) -> bool:
    """Return whether a script defines a name only where it is run, not where it is imported."""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            names = {getattr(node, "name", None) for node in ast.walk(statement)}
            if name in names:
                return True
    return False


def load_code(source: CodeSource) -> Callable[..., Any]:
    """Return the class or function of a source; missing files are written first."""
    if source.is_interactive:
        raise UsageError(
            f"{source.attribute} is defined in a notebook or an interactive session, which other "
            "processes cannot import."
        )
    is_first = (source.spec, source.digest) not in _file_uses
    imported = _imported_before(source) if is_first else []
    with (
        recording(file_use(source)),
        refusing_exit(f"The import of {source.module or source.path}"),
    ):
        module = _import_file(source) if source.module is None else _import_module(source)
        for earlier in imported:
            _run_copy(earlier)
    member = getattr(module, source.attribute, None)
    if not callable(member):
        names = [
            name for name, value in vars(module).items() if isinstance(value, (type, FunctionType))
        ]
        kind = f"class or function of {source.module or source.path}"
        raise unknown_name_error(kind, source.attribute, names)
    return cast(Callable[..., Any], member)


def file_use(source: CodeSource) -> FileUse:
    """Return the files that a source's code has opened in this process."""
    key = source.spec, source.digest
    if key not in _file_uses:
        _file_uses[key] = FileUse(source.folder)
    return _file_uses[key]


def _imported_before(source: CodeSource) -> list[ModuleType]:
    """Return modules of a source that are imported already and call something at import.

    Which files they have read then is not known.
    """
    texts = dict(zip(map(str, source.paths), source.files.values(), strict=True))
    modules = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        is_script = name in _SCRIPT or name.startswith(_PRIVATE)
        if isinstance(path, str) and path in texts and not is_script and _calls(texts[path]):
            modules.append(module)
    return modules


def _calls(text: str) -> bool:
    """Return whether a module calls anything while it is imported, outside its functions."""
    queue: list[ast.AST] = [ast.parse(text)]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Call):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            queue += ast.iter_child_nodes(node)
    return False


def _run_copy(module: ModuleType) -> None:
    """Import a module again under another name, which shows the files that it reads."""
    package = f"{module.__package__}." if module.__package__ else ""
    name = f"{package}{_PRIVATE}copy"
    spec = importlib.util.spec_from_file_location(name, str(module.__file__))
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    sys.modules[name] = copy
    try:
        with suppress(Exception):  # the module itself was imported without
            spec.loader.exec_module(copy)
    finally:
        del sys.modules[name]


def _import_file(source: CodeSource) -> ModuleType:
    assert source.path is not None
    # The path counts, too: a copy elsewhere may read other files beside it.
    place = _digest(f"{source.path}\0{source.digest}")
    name = f"{_PRIVATE}{place[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path = source.path if source.path.is_file() else _write(source) / source.path.name
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, ModuleNotFoundError):
            raise PrerequisiteError(f"{path} requires a module: {error}.") from error
        raise
    return module


def _import_module(source: CodeSource) -> ModuleType:
    assert source.module is not None
    try:
        return importlib.import_module(source.module)
    except ModuleNotFoundError:
        if not source.files:
            raise
        sys.path.append(str(_write(source)))
        importlib.invalidate_caches()
        return importlib.import_module(source.module)


def _write(source: CodeSource) -> Path:
    """Return a new directory with the source's files, for a machine that does not have them."""
    directory = Path(tempfile.mkdtemp(prefix="edgecil-"))
    for name, text in source.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


def local_files(path: Path, root: Path) -> dict[str, str]:
    """Return the text of a module and of the modules under `root` that it imports, by path.

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
            start = path.parents[node.level - 1] if node.level else root
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
