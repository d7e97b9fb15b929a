"""What goes wrong in Spark, in one line: no trace of Java or of a worker reaches the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from judged import __version__
from judged.errors import EngineError, InputError, JudgedError

_OF_SPARK = ("pyspark", "py4j", "grpc", "google")
"""Packages whose exceptions are Spark's."""
_ABOUT_INPUT = ("AnalysisException", "ParseException")
"""Exceptions on what does not exist or cannot be read."""
_ABOUT_TEXT = ("MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING", "CSV header does not conform")
"""What is said of lines that are not as the others."""


@contextmanager
def failures(address: str | None = None) -> Iterator[None]:
    """Turn what Spark raises into one error of ours; `address` is where it runs."""
    try:
        yield
    except JudgedError:
        raise
    except (ConnectionError, EOFError) as error:
        raise EngineError(_lost(address, error)) from None
    except Exception as error:
        kinds = {each.__name__ for each in type(error).__mro__}
        if not any(each.__module__.partition(".")[0] in _OF_SPARK for each in type(error).__mro__):
            raise
        text = str(error)
        if said := _of_worker(text):
            raise EngineError(said) from None
        if kinds & set(_ABOUT_INPUT) or any(said in text for said in _ABOUT_TEXT):
            raise InputError(f"Spark cannot read it: {_sentence(text)}") from None
        raise EngineError(_lost(address, error)) from None


def other_version(theirs: str) -> str:
    """What is said where the workers have another judged."""
    return (
        f"the workers of Spark have judged {theirs}, and here is {__version__}: install the same "
        "version there."
    )


def not_installed(package: str) -> str:
    """What is said where the workers lack a Python package."""
    if package == "judged":
        return (
            f"judged is not installed where the workers of Spark run: install judged {__version__} "
            "there."
        )
    return (
        f"the workers of Spark lack the Python package {package}: install judged {__version__}, "
        "pyarrow and pandas there."
    )


def _of_worker(text: str) -> str | None:
    """What a worker lacks, where that is why it failed."""
    lacking = re.search(r"No module named '?\"?([\w.]+)", text)
    return None if lacking is None else not_installed(lacking.group(1).partition(".")[0])


def _lost(address: str | None, error: BaseException) -> str:
    where = f" at {address}" if address else ""
    return f"Spark{where} failed or was lost: {_sentence(str(error) or type(error).__name__)}"


_RAISED = re.compile(r"(Caused by: |: )?[\w.]*(Error|Exception)\b")


def _sentence(text: str) -> str:
    """The one line of a message that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    caused = [line for line in lines if _RAISED.match(line)]
    killed = next((line for line in lines if "Job aborted due to stage failure" in line), None)
    first = killed or (lines[0] if lines else "no reason was given")
    if first.startswith(("An error occurred while calling", "An exception was thrown")) and caused:
        first = caused[-1]
    first = re.sub(r"^(: )?(Caused by: )?([\w$]+\.)+([\w$]+):\s*", "", first)
    return first if len(first) <= 300 else f"{first[:300]}…"
