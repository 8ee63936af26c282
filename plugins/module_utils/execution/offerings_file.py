# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Offerings as an option gives them: a list, or a file of YAML, JSON or CSV."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    MissingLibrary,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import (
    Offering,
    parse_offerings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering_formats import (
    from_csv,
    from_karpenter,
)


def offerings_of(given: Any) -> tuple[Offering, ...]:
    """given: a list of offerings, or the path of a file of them. What Karpenter's KWOK provider
    reads is known by its shape. Raises InvalidOption, MissingLibrary."""
    if not isinstance(given, str):
        return parse_offerings(list(given) if isinstance(given, tuple) else given)
    path = os.path.expanduser(given)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InvalidOption("offerings", f"{path}: {why}.", "Name a file of offerings.") from error
    if path.endswith(".csv"):
        return parse_offerings(from_csv(text))
    document = _loaded(text, path)
    karpenters = isinstance(document, list) and document and "offerings" in (document[0] or ())
    return parse_offerings(from_karpenter(document) if karpenters else document)


def _loaded(text: str, path: str) -> Any:
    """YAML, of which JSON is a part."""
    try:
        yaml = import_module("yaml")
    except ImportError as error:
        raise MissingLibrary("PyYAML", sys.executable, str(error)) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = str(error).replace("\n", " ")
        raise InvalidOption("offerings", f"{path}: {where}.", "Correct the file.") from error
