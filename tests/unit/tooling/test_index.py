# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""pip's wheel from a configured index, read from a real HTTP server on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.index import download_pip, index_url, newest_wheel

WHEEL = b"a wheel"
DIGEST = hashlib.sha256(WHEEL).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of project pip on an index that PIP_INDEX_URL names."""
    project = tmp_path / "simple" / "pip"
    project.mkdir(parents=True)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        yield project
        server.shutdown()


def test_the_newest_wheel_is_downloaded_and_its_hash_compared(index: Path, tmp_path: Path) -> None:
    (index / "pip-25.10-py3-none-any.whl").write_bytes(WHEEL)
    (index / "index.html").write_text(
        '<a href="pip-25.9-py3-none-any.whl">old</a>'
        f'<a href="pip-25.10-py3-none-any.whl#sha256={DIGEST}">new</a>'
        '<a href="pip-26.0b1-py3-none-any.whl">beta</a><a href="pip-26.tar.gz">sources</a>'
    )

    assert download_pip(tmp_path).read_bytes() == WHEEL


def test_a_file_with_another_hash_is_refused(index: Path, tmp_path: Path) -> None:
    (index / "pip-25.1-py3-none-any.whl").write_bytes(b"something else")
    (index / "index.html").write_text(f'<a href="pip-25.1-py3-none-any.whl#sha256={DIGEST}">p</a>')

    with pytest.raises(LookupError, match=r"pip-25\.1.* does not have the sha256"):
        download_pip(tmp_path)


def test_an_index_without_pip_is_said_to_have_none() -> None:
    with pytest.raises(LookupError, match="no wheel of pip"):
        newest_wheel("<a href='pip-9.tar.gz'>pip-9.tar.gz</a>", "http://localhost/simple/pip/")


@pytest.mark.parametrize(
    ("variables", "files", "expected"),
    [
        pytest.param({"PIP_INDEX_URL": "http://a/"}, {}, "http://a/", id="the-variable"),
        pytest.param(
            {},
            {".config/pip/pip.conf": "[global]\nindex-url = http://b/\n"},
            "http://b/",
            id="user",
        ),
        pytest.param(
            {"PIP_INDEX_URL": "http://a/"},
            {".config/pip/pip.conf": "[global]\nindex-url = http://b/\n"},
            "http://a/",
            id="the-variable-before-the-file",
        ),
        pytest.param({}, {}, "", id="nothing-configured-names-no-index"),
    ],
)
def test_the_index_is_the_one_that_pip_is_configured_for(
    tmp_path: Path, variables: dict[str, str], files: dict[str, str], expected: str
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)

    assert index_url({"HOME": str(tmp_path), **variables}) == expected
