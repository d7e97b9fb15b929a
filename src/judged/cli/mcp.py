"""`judged mcp`: evaluate files of a folder for agents, by the Model Context Protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from judged import __version__, errors
from judged.cli._command import command
from judged.errors import InputError, JudgedError, MissingExtraError, quoted

INSTRUCTIONS = (
    "judged evaluates retrieval: search, recommendation and RAG. Give files by their paths "
    "relative to the folder of the server: judgements (qrels) and runs in TREC, CSV, JSON or "
    "Parquet, or rankings files. Measures are written as nDCG@10 or R@100. All tools only read."
)
Tool = Callable[..., Any]


@command(example="judged mcp judged-demo/text")
@click.argument("folder", type=click.Path(file_okay=False, exists=True, path_type=Path))
def mcp(folder: Path) -> None:
    """Serve the tools of judged to agents over standard input and output.

    Tools are evaluate, compare, gate, explain, identify and measures. They read files below FOLDER
    only, write nothing, and return the JSON of the commands of the same names. Configure an agent
    to start this command.
    """
    errors.in_shell = False  # agents give arguments by name
    make_server(folder).run("stdio")


def make_server(folder: Path) -> Any:
    """Return a server whose tools read files below a folder."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingExtraError('judged mcp needs mcp: pip install "judged[mcp]".') from error
    server = MCPServer("judged", instructions=INSTRUCTIONS, version=__version__)
    for tool in _tools(Files(folder)):
        server.tool(structured_output=False)(_answers(tool))
    return server


class Files:
    """The files below a folder; nothing outside can be named, not by links either."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def __call__(self, name: str) -> str:
        """Return the path of a file."""
        path = (self.folder / name.replace("\0", "")).resolve()
        # NAME=FILE and FILE::NAME would name another file to the readers.
        odd = "\0" in name or "=" in name or "::" in name
        if odd or not path.is_relative_to(self.folder):
            raise InputError(f"{quoted(name)} is outside the folder that this server reads.")
        if not path.is_file():
            there = sorted(file.name for file in self.folder.iterdir() if file.is_file())
            raise InputError(
                f"there is no file {quoted(name)}; the folder has {', '.join(there[:20])}."
            )
        return str(path)

    def data(self, judgements: str, runs: list[str]) -> tuple[str, Any]:
        """Return the paths of judgements and runs; rankings files need no judgements."""
        paths = [self(run) for run in runs]
        return self(judgements), paths or None


def _answers(tool: Tool) -> Tool:
    """Return what a tool gives as JSON text, and errors as their messages."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def answer(**arguments: Any) -> str:
        try:
            result = tool(**arguments)
        except JudgedError as error:
            raise ToolError(str(error)) from None
        return result if isinstance(result, str) else result.to_json()

    return answer


def _tools(files: Files) -> tuple[Tool, ...]:
    def evaluate(judgements: str, runs: list[str], measures: str = "nDCG@10") -> Any:
        """Score runs against judgements; measures are separated by commas."""
        from judged.evaluation.evaluate import evaluate

        return evaluate(*files.data(judgements, runs), measures)

    def compare(
        judgements: str, runs: list[str], measures: str = "nDCG@10", baseline: str | None = None
    ) -> Any:
        """Test whether runs differ significantly; baseline is the name of a run."""
        from judged.comparison import compare

        return compare(*files.data(judgements, runs), measures, baseline=baseline)

    def gate(
        judgements: str, run: str, baseline: str, measures: str = "nDCG@10", max_drop: float = 0
    ) -> Any:
        """Decide whether a run may replace a baseline, which is a run or a baseline file."""
        from judged.comparison.gate import gate

        data = files.data(judgements, [run])
        return gate(*data, measures, baseline=files(baseline), max_drop=max_drop or None)

    def explain(judgements: str, run: str, query: str, measure: str = "nDCG@10") -> Any:
        """Show step by step how a value of one query is calculated."""
        from judged.explanation.question import explain

        return explain(*files.data(judgements, [run]), query=query, measure=measure)

    def identify(number: str, judgements: str, run: str) -> Any:
        """Find the definitions, of measures and libraries, that give a printed number."""
        from judged.conventions.identification import identify

        return identify(number, *files.data(judgements, [run]))

    def measures(name: str = "") -> str:
        """List all measures, or describe one by its name."""
        from judged.measures import catalogue, parse_measure

        if name:
            return json.dumps(parse_measure(name).definition(), ensure_ascii=False)
        return json.dumps({spec.name: spec.title for spec in catalogue()}, ensure_ascii=False)

    return evaluate, compare, gate, explain, identify, measures
