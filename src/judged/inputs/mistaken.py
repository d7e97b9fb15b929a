"""Files of the other kind, where it is said what belongs there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs import read_run
from judged.inputs.formats import printable
from judged.inputs.tables import JUDGEMENTS, RUN, Kind, Lookup, Run

if TYPE_CHECKING:
    from judged.options import ColumnsLike, FileFormat


def in_place(error: InputError, given: Any, wanted: Kind, where: str) -> InputError:
    """An error; of a file of the other kind, with what belongs where."""
    kind = JUDGEMENTS if wanted is RUN else RUN
    file = printable(given) if isinstance(given, (str, PathLike)) else ""
    if str(error) != kind.mistaken_for(wanted, file):
        return error
    return InputError(
        f"{file} looks like {kind.phrase} ({kind.columns}), not {wanted.phrase}. {where}"
    )


def read_runs(
    runs: Mapping[Any, Any],
    where: str,
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Iterator[Run | Lookup]:
    """The runs, one after the other; `where` says what belongs where, should one be judgements."""
    for name, given in runs.items():
        try:
            yield read_run(given, name=name, columns=columns, format=format)
        except InputError as error:
            raise in_place(error, given, RUN, where) from None
