# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A snapshot as a file: JSON, or gzipped JSON where the name ends in .gz.

{"version": 2, "summary": {...}, "nodes": [...], "workloads": [...], "budgets": [...],
"controllers": [...], "autoscalers": [...], "objects": {"pods": [...], ...}}: one document of
model/documents.py a line, then one object of model/twin_objects.py a line. Nothing in it tells when
it was read: the same fleet gives the same file.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from contextlib import closing
from typing import IO, Any, Iterable, Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import (
    VERSION,
    autoscaler_document,
    budget_document,
    controller_document,
    node_document,
    summary_document,
    workload_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import Objects

# Annotations may hold what is not for everybody. A file that is there keeps its own mode.
_MODE = 0o600


def write_snapshot(path: str, fleet: Fleet, objects: Objects, *, dry: bool) -> bool:
    """Writes the file unless it says the same already; returns whether it did, or with `dry`,
    would. A reader sees the old file or the new one, never a part. Raises InvalidOption (dest)."""
    path = os.path.expanduser(path)
    try:
        _check_place(path)
        mode = _mode(path)
        if mode is not None and _says(path, _lines(fleet, objects)):
            return False
        if not dry:
            _write(path, _lines(fleet, objects), _MODE if mode is None else mode)
    except OSError as error:
        raise InvalidOption("dest", f"{path}: {error.strerror or error}.") from error
    return True


def _lines(fleet: Fleet, objects: Objects) -> Iterator[bytes]:
    """Line by line: 50,000 documents at once would weigh more than the fleet itself."""
    collections: tuple[tuple[str, Iterable[dict[str, Any]]], ...] = (
        ("nodes", (node_document(node, fleet) for node in fleet.nodes)),
        ("workloads", (workload_document(pod, fleet) for pod in fleet.pods)),
        ("budgets", (budget_document(budget) for budget in fleet.budgets)),
        ("controllers", (controller_document(item) for item in fleet.controllers)),
        ("autoscalers", (autoscaler_document(item) for item in fleet.autoscalers)),
    )
    yield b'{"version": %d,\n"summary": %s' % (VERSION, _json(summary_document(fleet)))
    for name, documents in collections:
        yield b",\n"
        yield from _listed(name, documents)
    yield b',\n"objects": {'
    separator = b"\n"
    for name, raws in objects.items():
        yield separator
        yield from _listed(name, raws)
        separator = b",\n"
    yield b"}}\n"


def _listed(name: str, documents: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield b'"%s": [' % name.encode()
    separator = b"\n"
    for document in documents:
        yield separator + _json(document)
        separator = b",\n"
    yield b"]"


def _json(document: Any) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def _mode(path: str) -> Optional[int]:
    """The mode bits of the file, None where there is none."""
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def _says(path: str, lines: Iterator[bytes]) -> bool:
    """Does the file hold exactly these lines? One that is no gzip where it should be does not."""
    try:
        with closing(_reader(path)) as file:
            return all(file.read(len(line)) == line for line in lines) and not file.read(1)
    except (gzip.BadGzipFile, EOFError):
        return False


def _reader(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def _check_place(path: str) -> None:
    if os.path.isdir(path):
        raise IsADirectoryError(0, "is a directory; give the name of a file")
    directory = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(directory):
        raise FileNotFoundError(0, f"the directory {directory} does not exist")
    if not os.access(directory, os.W_OK):
        raise PermissionError(0, f"the directory {directory} is not writable")


def _write(path: str, lines: Iterator[bytes], mode: int) -> None:
    directory, name = os.path.split(os.path.abspath(path))
    number, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
    try:
        with os.fdopen(number, "wb") as raw:
            _fill(raw, lines, packed=path.endswith(".gz"))
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _fill(raw: IO[bytes], lines: Iterator[bytes], *, packed: bool) -> None:
    if not packed:
        raw.writelines(lines)
        return
    # Without its own time, the same lines make the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as file:
        file.writelines(lines)
