# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Label selectors: the API's LabelSelector objects and kubectl's text form, one value for both.

Rules as k8s.io/apimachinery has them (pkg/labels, pkg/apis/meta/v1/validation), 1.37.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

EQUALS, NOT_EQUALS, IN, NOT_IN = "=", "!=", "in", "notin"
EXISTS, DOES_NOT_EXIST = "exists", "!"
GREATER, LESS = ">", "<"

_API_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_MAX_NAME, _MAX_SUBDOMAIN, _MAX_INT = 63, 253, 2**63 - 1


class InvalidSelector(ValueError):
    """A selector that the API server would refuse; str() says where and why."""


@dataclass(frozen=True, order=True)
class Requirement:
    """One condition on one label. `values` are sorted; there are none for exists and !."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """An absent label satisfies !=, notin and !, and no other operator."""
        value = labels.get(self.key)
        if self.operator in (NOT_EQUALS, NOT_IN):
            return value not in self.values
        if self.operator == DOES_NOT_EXIST:
            return value is None
        if value is None:
            return False
        if self.operator in (EQUALS, IN):
            return value in self.values
        return self.operator == EXISTS or self._compares(value)

    def _compares(self, value: str) -> bool:
        number, limit = _integer(value), _integer(self.values[0])
        if number is None or limit is None:
            return False
        return number > limit if self.operator == GREATER else number < limit

    def __str__(self) -> str:
        if self.operator == EXISTS:
            return self.key
        if self.operator == DOES_NOT_EXIST:
            return f"!{self.key}"
        if self.operator in (IN, NOT_IN):
            return f"{self.key} {self.operator} ({','.join(self.values)})"
        return f"{self.key}{self.operator}{self.values[0]}"


@dataclass(frozen=True)
class LabelSelector:
    """All requirements must hold; without any it selects everything. Sorted, without repeats."""

    requirements: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        """kubectl's form, which parse_selector_text reads back; "" selects everything."""
        return ",".join(map(str, self.requirements))


def parse_label_selector(raw: Mapping[str, Any]) -> LabelSelector:
    """Returns the selector of a raw metav1.LabelSelector; {} selects everything.

    Raises InvalidSelector with the path of the field that is wrong.
    """
    found = [
        _checked(Requirement(key, EQUALS, _texts((value,), f"matchLabels[{key}]")), "matchLabels")
        for key, value in _mapping(raw.get("matchLabels"), "matchLabels").items()
    ]
    for index, expression in enumerate(raw.get("matchExpressions") or ()):
        path = f"matchExpressions[{index}]"
        found.append(_parse_expression(_mapping(expression, path), path))
    return _selector(found)


def label_selector_document(selector: LabelSelector) -> dict[str, Any]:
    """Returns the raw metav1.LabelSelector, which parse_label_selector reads back as the same.

    Raises InvalidSelector for > and <, which only node selectors and kubectl know.
    """
    names = {NOT_EQUALS: "NotIn", **{one: name for name, one in _API_OPERATORS.items()}}
    labels, expressions = {}, []
    for requirement in selector.requirements:
        if requirement.operator == EQUALS and requirement.key not in labels:
            labels[requirement.key] = requirement.values[0]
            continue
        if requirement.operator not in (EQUALS, *names):
            raise InvalidSelector(f"{requirement}: a LabelSelector has no {requirement.operator}")
        operator = names.get(requirement.operator, "In")
        values = {"values": list(requirement.values)} if requirement.values else {}
        expressions.append({"key": requirement.key, "operator": operator, **values})
    return {
        **({"matchLabels": labels} if labels else {}),
        **({"matchExpressions": expressions} if expressions else {}),
    }


def parse_stored_selector(raw: Optional[Mapping[str, Any]]) -> Optional[LabelSelector]:
    """Returns the selector of an object that the API server keeps; None when it selects nothing.

    Selectors stored before the API checked label values may break its rules. Kubernetes takes them
    as selecting nothing, and so must a fleet: one such object is no reason not to read the others.
    """
    if raw is None:
        return None
    try:
        return parse_label_selector(raw)
    except InvalidSelector:
        return None


def _parse_expression(raw: Mapping[str, Any], path: str) -> Requirement:
    name = raw.get("operator")
    operator = _API_OPERATORS.get(name) if isinstance(name, str) else None
    if operator is None:
        known = ", ".join(_API_OPERATORS)
        raise InvalidSelector(f"{path}.operator: {name!r} is not one of {known}")
    values = _texts(raw.get("values") or (), f"{path}.values")
    if operator in (IN, NOT_IN) and not values:
        raise InvalidSelector(f"{path}.values: {name} needs at least one value")
    if operator in (EXISTS, DOES_NOT_EXIST) and values:
        raise InvalidSelector(f"{path}.values: {name} takes no values")
    return _checked(Requirement(raw.get("key", ""), operator, values), path)


def _mapping(raw: Any, path: str) -> Mapping[str, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise InvalidSelector(f"{path}: {raw!r} is not a mapping")
    return raw


def _texts(values: Any, path: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidSelector(f"{path}: {values!r} is not a list")
    for value in values:
        if not isinstance(value, str):
            raise InvalidSelector(f"{path}: {value!r} is not a text; put it in quotes")
    return tuple(sorted(set(values)))


def _selector(requirements: Sequence[Requirement]) -> LabelSelector:
    return LabelSelector(tuple(sorted(set(requirements))))


def _checked(requirement: Requirement, path: str) -> Requirement:
    problem = label_key_problem(requirement.key)
    if problem:
        raise InvalidSelector(f"{path}: {problem}")
    for value in requirement.values:
        problem = label_value_problem(value)
        if problem:
            raise InvalidSelector(f"{path}: {problem}")
        if requirement.operator in (GREATER, LESS) and _integer(value) is None:
            raise InvalidSelector(f"{path}: {value!r} is not an integer of 64 bits")
    return requirement


def label_key_problem(key: object) -> str:
    """Returns why this cannot be a label's (or an annotation's) key, "" when it can."""
    if not isinstance(key, str):
        return f"label key {key!r} is not a text"
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > _MAX_SUBDOMAIN or not _SUBDOMAIN.fullmatch(prefix)):
        return f"label key {key!r}: {prefix!r} is not a DNS subdomain in lower case"
    if not name or len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        return f"label key {key!r}: {_RULE.format(name)}"
    return ""


def label_value_problem(value: str) -> str:
    """Returns why this cannot be a label's value, "" when it can; an empty value can."""
    if value and (len(value) > _MAX_NAME or not _NAME.fullmatch(value)):
        return f"label value {_RULE.format(value)}"
    return ""


_RULE = (
    "{!r} must be 1 to 63 letters, digits, '-', '_' or '.', with a letter or a digit at both ends"
)


def _integer(text: str) -> Optional[int]:
    """Returns a label's value as Gt and Lt read it: decimal digits, within 64 bits."""
    if not (text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= _MAX_INT else None


# --- kubectl's text form -------------------------------------------------------------------

_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+)")
_SYMBOLS = ("==", "!=", "=", "!", "<", ">", "(", ")", ",")
_SYMBOL_OPERATORS = {
    "=": EQUALS, "==": EQUALS, "!=": NOT_EQUALS, "in": IN, "notin": NOT_IN, ">": GREATER, "<": LESS
}  # fmt: skip


def parse_selector_text(text: str) -> LabelSelector:
    """Returns the selector of kubectl's text form: `a=b,c!=d,e in (f,g),!h,i,j>5`.

    "" selects everything. Raises InvalidSelector with the position (from 1) of what is wrong.
    """
    return _TextParser(text).selector()


class _TextParser:
    """Reads the tokens from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [(match.group(1), match.start(1)) for match in _TOKEN.finditer(text)]
        self._next = 0

    def selector(self) -> LabelSelector:
        found: list[Requirement] = []
        while found or self._peek() != "":
            found.append(self._requirement())
            if self._peek() == "":
                break
            self._expect(",")
        return _selector(found)

    def _requirement(self) -> Requirement:
        start = self._next
        absent = self._take("!")
        key = self._word("a label key")
        if absent:
            requirement = Requirement(key, DOES_NOT_EXIST)
        elif self._peek() in ("", ","):
            requirement = Requirement(key, EXISTS)
        else:
            operator = self._operator()
            listed = operator in (IN, NOT_IN)
            values = self._values() if listed else (self._value(),)
            requirement = Requirement(key, operator, tuple(sorted(set(values))))
        return _checked(requirement, self._where(start))

    def _operator(self) -> str:
        operator = _SYMBOL_OPERATORS.get(self._peek())
        if operator is None:
            raise self._unexpected("one of =, ==, !=, in, notin, <, >")
        self._next += 1
        return operator

    def _values(self) -> Sequence[str]:
        """(f,g): a value may be empty, so that () is the one empty value."""
        self._expect("(")
        values = [self._value()]
        while not self._take(")"):
            if not self._take(","):
                raise self._unexpected("',' or ')'")
            values.append(self._value())
        return values

    def _value(self) -> str:
        return "" if self._peek() in ("", ",", ")") else self._word("a label value")

    def _word(self, expected: str) -> str:
        token = self._peek()
        if token == "" or token in _SYMBOLS:
            raise self._unexpected(expected)
        self._next += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self, symbol: str) -> bool:
        taken = self._peek() == symbol
        self._next += taken
        return taken

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            raise self._unexpected(f"'{symbol}'")

    def _unexpected(self, expected: str) -> InvalidSelector:
        found = repr(self._peek()) if self._peek() else "the end"
        return InvalidSelector(f"{self._where(self._next)}: expected {expected}, found {found}")

    def _where(self, token: int) -> str:
        position = self._tokens[token][1] if token < len(self._tokens) else len(self._text)
        return f"selector {self._text!r}, position {position + 1}"
