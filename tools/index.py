# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Download pip's own wheel from the package index that pip is configured for.

Only what a first pip needs of the simple repository API (PEP 503): the links of one project page,
the hash behind each link. The last resort of tools/bootstrap.py.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import ssl
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlparse
from urllib.request import urlopen

WHEEL = re.compile(r"^pip-(\d+(?:\.\d+)*)-py3-none-any\.whl$")
TIMEOUT = 60  # seconds


def download_pip(place: Path) -> Path:
    """Put the newest final pip wheel into the directory; returns its path.

    Raises LookupError when no index is configured or it has no such wheel, or a wrong one;
    OSError when it cannot be read.
    """
    index = index_url(dict(os.environ))
    if not index:
        raise LookupError("neither PIP_INDEX_URL nor a pip.conf names one")
    page = index.rstrip("/") + "/pip/"
    name, link = newest_wheel(_read(page).decode(), page)
    content = _read(link)
    algorithm, _unused, digest = urlparse(link).fragment.partition("=")
    if algorithm and hashlib.new(algorithm, content).hexdigest() != digest:
        raise LookupError(f"{name} does not have the {algorithm} that the index gives")
    target = place / name
    target.write_bytes(content)
    return target


def index_url(environ: dict[str, str]) -> str:
    """The index that pip would use, or "" when pip would take its default."""
    if environ.get("PIP_INDEX_URL"):
        return environ["PIP_INDEX_URL"]
    found = ""
    for path in _configuration_files(environ):
        parser = configparser.RawConfigParser()
        parser.read(path)
        for section in ("global", "download", "install"):
            found = parser.get(section, "index-url", fallback=found)
    return found


def newest_wheel(page: str, address: str) -> tuple[str, str]:
    """File name and absolute link of the newest final wheel on a project page."""
    links = _Links()
    links.feed(page)
    wheels = []
    for href in links.hrefs:
        name = urlparse(href).path.rsplit("/", 1)[-1]
        match = WHEEL.match(name)
        if match:
            version = tuple(int(part) for part in match.group(1).split("."))
            wheels.append((version, name, urljoin(address, href)))
    if not wheels:
        raise LookupError("the index has no wheel of pip")
    return max(wheels)[1:]


def _configuration_files(environ: dict[str, str]) -> list[str]:
    """pip's configuration files, the strongest last."""
    home = environ.get("HOME", os.path.expanduser("~"))
    user = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = ["/etc/xdg/pip/pip.conf", "/etc/pip.conf", os.path.join(home, ".pip", "pip.conf")]
    return [*files, os.path.join(user, "pip", "pip.conf"), environ.get("PIP_CONFIG_FILE", "")]


def _read(address: str) -> bytes:
    certificates = os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE")
    context = ssl.create_default_context(cafile=certificates)
    with urlopen(address, timeout=TIMEOUT, context=context) as answer:
        content: bytes = answer.read()
        return content


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.hrefs.extend(value for name, value in attrs if name == "href" and value)
