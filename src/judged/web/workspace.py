"""The files of a session: those of the server, those that it uploaded, and what they contain."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError, did_you_mean, quoted
from judged.inputs.formats import distinct_names, run_name
from judged.inputs.keyed import attributes_of
from judged.inputs.tables import Lookup
from judged.inputs.texts import Of, Text, Texts, read_texts
from judged.web.errors import GoneError, RefusedError, UndecidedError
from judged.web.files import (
    DataFile,
    annotator_of,
    identify_file,
    kind_by_name,
    of_annotator,
    scan_folder,
    without_other_collections,
)
from judged.web.work import progress_of_this_work

if TYPE_CHECKING:
    import polars as pl

    from judged.web.visit import Params, Visit


SECONDS_BETWEEN_SCANS = 1.0
FILE_PARAMS = ("judgements", "run", "grader")
"""Parameters of an address that name the files to evaluate, and an annotator whose grades count."""


LeftOut = dict[tuple[Any, ...], str]
"""Why runs cannot be evaluated, by the identity of the file and the rule for duplicates."""


@dataclass(frozen=True)
class EvaluatedSystem:
    """A run, as pages show it."""

    name: str
    file: DataFile
    place: int  # its place among the files, from 0, which gives its colour and dash on all pages


@dataclass(frozen=True, eq=False)
class Workspace:
    """The files, and which of them are evaluated."""

    name: str
    files: tuple[DataFile, ...]
    judgements: DataFile | None = None
    """The file of judgements, or of rows that also hold the judgements."""
    systems: tuple[EvaluatedSystem, ...] = ()
    problems: tuple[str, ...] = ()  # sentences on what was left out
    undecided: str = ""  # why nothing can be evaluated; empty if it can
    left_out: tuple[tuple[str, str], ...] = ()  # runs that cannot be evaluated, and why
    grades: DataFile | None = None  # an annotator's grades, which come before the judgements

    @classmethod
    def of(
        cls,
        name: str,
        files: Sequence[DataFile],
        problems: Sequence[str],
        params: Params,
        left_out: LeftOut,
    ) -> Workspace:
        by_name = {file.name: file for file in files}
        wanted, runs = params.one("judgements"), params.all("run")
        for named in (*([wanted] if wanted else []), *runs):
            if named not in by_name:
                near = did_you_mean(named, by_name)
                raise GoneError(f"Unknown file {quoted(named)}{near}", "judgements")
        graders = {annotator_of(file): file for file in files if file.kind == "annotator"}
        grader = params.one("grader")
        if grader is not None and grader not in graders:
            near = did_you_mean(grader, graders)
            raise GoneError(f"Unknown annotator {quoted(grader)}{near}", "grader")
        judgements, why, others = _choose_judgements(files, by_name[wanted] if wanted else None)
        problems = [*problems, *others]
        with_both = judgements is not None and judgements.kind == "rows"
        kinds = ("run", "rows") if with_both else ("run",)
        listed = [by_name[run] for run in dict.fromkeys(runs)]
        skipped: list[tuple[str, str]] = []
        if not runs:
            duplicates = params.one("duplicates")
            known = [file for file in files if file.kind in kinds]
            bad = {file: left_out.get((*file.identity, duplicates)) for file in known}
            listed = [file for file in known if bad[file] is None]
            skipped = [(file.name, says) for file, says in bad.items() if says is not None]
        listed = [file for file in listed if file is not judgements]
        if with_both and judgements is not None:
            listed = [judgements, *listed]
        if not why and not listed and skipped:
            why = f"No run can be evaluated. {skipped[0][1]}"
        elif not why and not listed:
            unclear = [file.name for file in files if file.kind == "unclear"]
            why = f"There are judgements, {judgements.name if judgements else ''}, and no run. " + (
                "Say what the other files are." if unclear else "Add the results of a system."
            )
        every = [file for file in files if file.kind in ("run", "rows", "unclear")]
        places = {file.name: at for at, file in enumerate(every)}
        names = distinct_names(
            [(run_name(file.name) if file.uploaded else None, str(file.path)) for file in listed]
        )
        systems = [
            EvaluatedSystem(run, file, places.get(file.name, at))
            for at, (run, file) in enumerate(zip(names, listed, strict=True))
        ]
        chosen = name, tuple(files), judgements, tuple(systems), tuple(problems), why
        return cls(*chosen, tuple(skipped), None if grader is None else graders[grader])

    def of_kind(self, *kinds: str) -> tuple[DataFile, ...]:
        return tuple(file for file in self.files if file.kind in kinds)

    def file(self, name: str) -> DataFile:
        known = {file.name: file for file in self.files}
        if name not in known:
            raise GoneError(f"Unknown file {quoted(name)}{did_you_mean(name, known)}", "name")
        return known[name]

    def system(self, name: str) -> EvaluatedSystem:
        known = {system.name: system for system in self.systems}
        if name not in known:
            raise GoneError(
                f"Unknown system {quoted(name)}{did_you_mean(name, known)} The systems are "
                f"{', '.join(known) or 'none'}.",
                "system",
            )
        return known[name]

    def refuse_undecided(self) -> None:
        if self.undecided:
            raise UndecidedError(self.undecided)

    @property
    def annotators(self) -> list[str]:
        return sorted(annotator_of(file) for file in self.of_kind("annotator"))

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """A key that changes with any of the evaluated files."""
        files = (self.judgements, self.grades)
        judgements = tuple(None if file is None else file.identity for file in files)
        return judgements, tuple((system.name, system.file.identity) for system in self.systems)


def _choose_judgements(
    files: Sequence[DataFile], wanted: DataFile | None
) -> tuple[DataFile | None, str, list[str]]:
    """Return the judgements, or why it is unclear which they are, and sentences on other files."""
    if wanted is not None:
        return wanted, "", []
    judgements = [file for file in files if file.kind == "judgements"]
    both = [file for file in files if file.kind == "rows"]
    if len(judgements) > 1:
        likely = _likely_judgements(judgements, files)
        if len(likely) == 1:
            others = [
                f"{file.name} is not used: it has the form of judgements, but "
                f"{likely[0].name} fits the runs better. Choose it below if it is meant."
                for file in judgements
                if file is not likely[0]
            ]
            return likely[0], "", others
        names = ", ".join(file.name for file in likely[:5])
        names += ", …" if len(likely) > 5 else ""
        why = f"There are {len(likely)} files of judgements: {names}. Say which one is meant."
        return None, why, []
    if judgements or both:
        return (judgements or both)[0], "", []
    kinds = {file.kind for file in files}
    why = "There is nothing here yet that could be evaluated."
    if "unclear" in kinds:
        why = "It is not clear which file holds the judgements. Say what each file is."
    elif "run" in kinds:
        why = "There are runs and no judgements, so nothing can be evaluated. Add them."
    return None, why, []


def _likely_judgements(
    judgements: Sequence[DataFile], files: Sequence[DataFile]
) -> Sequence[DataFile]:
    """Prefer files that can be read, share queries with a run, and are not named as one."""
    runs = frozenset[str]().union(*(file.queries for file in files if file.kind == "run"))
    likely = [file for file in judgements if not file.note] or judgements
    likely = [file for file in likely if file.queries & runs] or likely
    return [file for file in likely if kind_by_name(file, "") != "run"] or likely


@dataclass(eq=False)
class ServedFiles:
    """The files of the server, scanned again from time to time."""

    paths: tuple[Path, ...]
    queue: Path | None = None  # the file of items to judge
    _files: tuple[DataFile, ...] = ()
    _problems: tuple[str, ...] = ()
    _next_scan: float = 0.0
    _identified: dict[tuple[str, int, int], DataFile] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    left_out: LeftOut = field(default_factory=dict)
    pictures: int = 0  # how many pictures the folder has

    @property
    def folder(self) -> Path | None:
        """The folder, if the server was started with one."""
        return self.paths[0] if len(self.paths) == 1 and self.paths[0].is_dir() else None

    @property
    def home(self) -> Path | None:
        """The folder for annotators' grades: the folder, or the one of all files."""
        if self.folder is not None:
            return self.folder
        parents = {path.resolve().parent for path in self.paths}
        return parents.pop() if len(parents) == 1 else None

    @property
    def name(self) -> str:
        if not self.paths:
            return "no files"
        return self.paths[0].resolve().name if len(self.paths) == 1 else f"{len(self.paths)} files"

    def files(self) -> tuple[tuple[DataFile, ...], tuple[str, ...]]:
        with self._lock:
            begun = time.monotonic()
            if begun > self._next_scan:
                scanned, problems = self._scan()
                files = list(map(self._identify, scanned))
                if self.folder is not None:
                    files, apart = without_other_collections(files, self.folder)
                    problems = [*problems, *apart]
                self._files, self._problems = tuple(files), tuple(problems)
                # A large folder is not looked at all the time.
                now = time.monotonic()
                self._next_scan = now + max(SECONDS_BETWEEN_SCANS, 20 * (now - begun))
            return self._files, self._problems

    def look_again(self) -> None:
        """Look at the folder at the next request, because a file was written."""
        self._next_scan = 0.0

    def _scan(self) -> tuple[list[DataFile], list[str]]:
        if self.folder is not None:
            files, problems, self.pictures = scan_folder(self.folder)
            return files, problems
        files = []
        short = [path.name for path in self.paths]
        for path in self.paths:
            try:
                state = path.stat()
            except OSError:
                continue
            name = str(path) if short.count(path.name) > 1 else path.name
            files.append(DataFile(name, path, size=state.st_size, changed=state.st_mtime_ns))
        return files, []

    def _identify(self, file: DataFile) -> DataFile:
        if (kept := of_annotator(file)) is not None:
            return kept
        if self.queue is not None and file.path.resolve() == self.queue.resolve():
            return replace(file, kind="queue")
        if file.identity not in self._identified:
            self._identified[file.identity] = identify_file(file)
        return replace(self._identified[file.identity], name=file.name)


@dataclass(eq=False)
class Session:
    """The uploads of one browser, and the versions of files that it saw."""

    id: str
    uploads: dict[str, DataFile] = field(default_factory=dict)
    seen: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    annotator: str = ""  # the name of the annotator, until another one is chosen

    def workspace(
        self, library: ServedFiles, params: Params, left_out: LeftOut | None = None
    ) -> Workspace:
        files, problems = library.files()
        both = [*files, *self.uploads.values()]
        return Workspace.of(library.name, both, problems, params, left_out or {})

    def noticed(self, workspace: Workspace) -> list[str]:
        """Return the names of files that changed since the last visit, except annotators' files."""
        now = {
            file.name: file.identity
            for file in workspace.files
            if file.kind not in ("annotator", "log")
        }
        changed = [name for name, state in now.items() if self.seen.get(name, state) != state]
        self.seen = now
        return changed

    def add(self, file: DataFile, library: ServedFiles) -> None:
        taken = {known.name for known in library.files()[0]} | set(self.uploads)
        if file.name in taken:
            raise RefusedError(
                f"there is a file {file.name} already; remove it first, or send this one under "
                "another name.",
                "name",
                status=409,
            )
        self.uploads[file.name] = file


LARGE_TEXT_BYTES = 64 * 10**6
"""From larger files, only the texts of retrieved and judged items are kept."""


def texts_of(visit: Visit, of: Of = "items") -> tuple[Mapping[str, Text], list[str]]:
    """Return the titles and texts of items or queries from all tables, and error messages."""
    tables: list[Texts] = []
    problems = []
    for file in visit.workspace.of_kind("texts" if of == "items" else "queries"):
        if has_pictures(file):
            continue
        try:
            key = "texts", of, file.identity
            tables.append(visit.cache.get(key, partial(_read_text_table, visit, file, of)))
        except JudgedError as error:
            problems.append(str(error))
    return ChainMap(*tables) if tables else {}, problems  # type: ignore[arg-type]


def _read_text_table(visit: Visit, file: DataFile, of: Of) -> Texts:
    progress_of_this_work().say(f"Reading {file.name}")
    large = of == "items" and file.size > LARGE_TEXT_BYTES and not visit.workspace.undecided
    only = _items_in_use(visit) if large else None
    return read_texts(file.path, of=of, only=only)


def _items_in_use(visit: Visit) -> Collection[str]:
    calculations = visit.calculations
    needed: set[str] = set()
    for table in (calculations.judgements(), *calculations.runs().values()):
        if isinstance(table, Lookup):
            for items in table.lists.values():
                needed.update(items)
        else:
            needed.update(table.frame["item"].unique().to_list())
    return needed


def has_pictures(file: DataFile) -> bool:
    return {"id", "picture"} <= set(file.columns)


def pictures_of(visit: Visit) -> Mapping[str, Path]:
    """Return the paths of pictures by item: only files inside the folder, or beside their table."""
    paths: dict[str, Path] = {}
    for file in visit.workspace.of_kind("texts", "queries", "attributes", "labels", "other"):
        if has_pictures(file) and not file.uploaded:
            folder = (visit.library.folder or file.path.parent).resolve()
            key = "pictures", file.identity, str(folder)
            paths |= visit.cache.get(key, partial(_read_picture_paths, file, folder))
    return paths


def picture_address(visit: Visit, name: str) -> str | None:
    """Return the address of the picture of an item or a query, if there is one."""
    return visit.url("/picture", item=name) if name in pictures_of(visit) else None


def _read_picture_paths(file: DataFile, folder: Path) -> dict[str, Path]:
    from judged.charts.pictures import read_pictures

    paths = {name: Path(str(place)) for name, place in read_pictures(file.path).items()}
    return {name: path for name, path in paths.items() if _is_inside(path, folder)}


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # a loop of links, a name that no file can have
        return False


def attributes_of_queries(visit: Visit, queries: tuple[str, ...]) -> tuple[pl.DataFrame, list[str]]:
    """Return the attributes of queries as columns, and error messages."""
    import polars as pl

    columns: dict[str, Any] = {}
    problems: list[str] = []
    for file in visit.workspace.of_kind("attributes"):
        try:
            key = "attributes", file.identity, visit.workspace.identity
            read = partial(attributes_of, str(file.path), queries)
            frame = visit.cache.get(key, read).frame
            columns |= {name: frame[name] for name in frame.columns}
        except JudgedError as error:
            problems.append(str(error))
    return pl.DataFrame(columns), problems
