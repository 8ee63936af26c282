# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes docs/guides/codes.md from the catalogue of codes: python -m tools.codes_guide

A unit test fails when the guide is not what this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guides" / "codes.md"

_HEAD = """# Codes

Every entry of `result` has a `code`, and a module that fails has one beside `msg`. Codes are
stable: match on them, not on sentences. The `detail` of an entry says the same of the object at
hand, with the names and numbers.

| code | meaning | remedy |
|---|---|---|
"""


def guide() -> str:
    """Returns the guide's text, codes by name."""
    from ansible_collections.evenkeel.fleet.plugins.module_utils.model.codes import CODES

    rows = [
        f"| `{code.name}` | {code.meaning} | {code.remedy} |\n"
        for code in sorted(CODES, key=lambda code: code.name)
    ]
    return _HEAD + "".join(rows).replace("|  |\n", "| |\n")


def main() -> int:
    GUIDE.write_text(guide(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
