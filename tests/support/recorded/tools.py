"""What load tools printed in real runs, and readings of it: whole, or damaged in a folder."""

import json
import shutil
from pathlib import Path
from typing import Any

from benchforge.model.trial.reading import Load
from benchforge.parts.registry import Registry
from benchforge.plugin import Finished, Loader, Output, Reading, Request, Target

RECORDINGS = Path(__file__).parents[2] / "outputs"
TOOLS = ["ab", "h2load", "hey", "hyperfine", "k6", "locust", "oha", "siege", "weighttp"]
TOOLS += ["wrk", "wrk2"]


def target(folder: Path, request: Request | None = None, **more: Any) -> Target:
    programs = {tool: Path(f"/bin/{tool}") for tool in TOOLS}
    asks = request or Request(path="/agents?page=2")
    url = f"http://127.0.0.1:8080{asks.path}"
    return Target(url, asks, folder, programs, Path("/bin/python"), **more)


def recording(tool: str, name: str) -> dict[str, Any]:
    """Return the options, the exit code, and what the server counted."""
    return dict(json.loads((RECORDINGS / tool / name / "recording.json").read_text()))


def part(tool: str, options: dict[str, Any] | None = None) -> Loader:
    loader = Registry().part("loader", tool).model_validate(options or {})
    assert isinstance(loader, Loader)
    return loader


def read(
    tool: str,
    name: str,
    folder: Path | None = None,
    kinds: tuple[str, ...] = (),
    *,
    code: int | None = None,
    **options: Any,
) -> Reading:
    """Read a recording, or its files in another folder; an exit code and options may differ."""
    files, run = folder or RECORDINGS / tool / name, recording(tool, name)
    exit_code = run["exit_code"] if code is None else code
    done = Finished(exit_code, files / "stdout.txt", files / "stderr.txt", 1.0, 0.0, 0.0)
    return part(tool, run["options"] | options).read(Output(target(files, kinds=kinds), (done,)))


def recorded(tool: str, name: str) -> tuple[Reading, Load]:
    """Return the reading of a real run, and what the tool was told."""
    return read(tool, name), part(tool, recording(tool, name)["options"]).load()


def copied(tool: str, name: str, folder: Path) -> Path:
    """Copy what a run left, to be damaged."""
    shutil.copytree(RECORDINGS / tool / name, folder, dirs_exist_ok=True)
    return folder
