"""Bundles from strangers: any value in any place of a line or of the submission is refused by verify, never a fault."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.hang_guard import no_longer_than
from support.hostile_corpus import VALUES, with_value
from support.synthetic_run import make_run

from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, UNREADABLE, USAGE

SECONDS = 120


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    run = make_run(folder / "run", samples=3, capabilities=("general",), judged=True)
    command = ["submit", str(run), "--dataset", "none", "--capabilities", "general", "--model-name", "m", "--out"]
    assert main([*command, str(folder / "bundle")]) == DONE
    return folder / "bundle"


def places(content: dict[str, Any], depth: int) -> Iterator[tuple[str, ...]]:
    for key, value in content.items():
        yield (key,)
        if isinstance(value, dict) and depth > 1:
            yield from ((key, *rest) for rest in places(value, depth - 1))


def is_equal(changed: str, first: str) -> bool:
    """Whether the value was that one already."""
    return bool(json.loads(changed) == json.loads(first))


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("file", ["submission.json", "samples/general.jsonl"])
def test_any_value_in_any_place(file: str, name: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle / file
    whole = path.read_text("utf-8")
    first, rest = (whole, "") if file.endswith(".json") else whole.split("\n", 1)
    faults = []
    try:
        with no_longer_than(SECONDS):
            for place in places(json.loads(first), 2):
                changed = with_value(json.loads(first), place, VALUES[name])
                path.write_text(changed + "\n" + rest, "utf-8")
                status = main(["verify", str(bundle), "--offline"])
                errors = capsys.readouterr().err
                if status not in (UNREADABLE, USAGE) and not (status == DONE and is_equal(changed, first)):
                    faults.append((place, status, errors[-200:]))
    finally:
        path.write_text(whole, "utf-8")
    assert faults == []


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 1)).decode()


MASKS = {
    "more points than memory": [{"shape": [200_000, 200_000], "bits": packed(b"")}],
    "more bits than memory": [{"shape": [8, 8], "bits": packed(bytes(2**29))}],
    "many large ones": [{"shape": [9_000, 9_000], "bits": packed(bytes(9_000 * 9_000 // 8))}] * 40,
    "too few bits": [{"shape": [8, 9], "bits": packed(bytes(8))}],
    "negative": [{"shape": [-8, 8], "bits": packed(bytes(8))}],
    "both negative": [{"shape": [-8, -8], "bits": packed(bytes(8))}],
    "not packed": [{"shape": [8, 8], "bits": base64.b64encode(bytes(8)).decode()}],
    "not base64": [{"shape": [8, 8], "bits": "\u00e9"}],
    "no shape": [{"bits": packed(bytes(8))}],
    "a shape of texts": [{"shape": ["8", "8"], "bits": packed(bytes(8))}],
    "a flat shape": [{"shape": [64], "bits": packed(bytes(8))}],
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_ask_for_no_more_than_they_hold(name: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle / "samples" / "general.jsonl"
    whole = path.read_text("utf-8")
    first, *others = map(json.loads, whole.splitlines())
    first["scorer_input"] = {**first["scorer_input"], "points_mask": MASKS[name]}
    try:
        path.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)), "utf-8")
        with no_longer_than(SECONDS, mebibytes=400):
            assert main(["verify", str(bundle), "--offline"]) == UNREADABLE, capsys.readouterr().err
    finally:
        path.write_text(whole, "utf-8")
    assert f"{first['id']}: cannot be scored again" in capsys.readouterr().err


@pytest.mark.parametrize("capability", ["../../pwned", "/pwned", "a/b", "CON", "x" * 300, "\0", ""])
def test_a_capability_becomes_no_path(capability: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle / "submission.json"
    whole = path.read_text("utf-8")
    content = json.loads(whole)
    content["runs"][capability] = content["runs"]["general"]
    before = {*bundle.parent.rglob("*")}
    try:
        path.write_text(json.dumps(content), "utf-8")
        assert main(["verify", str(bundle), "--offline"]) == UNREADABLE, capsys.readouterr().err
    finally:
        path.write_text(whole, "utf-8")
    assert {*bundle.parent.rglob("*")} == before
