# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes are meant: by names, by labels, or by a JMESPath expression over their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import node_document
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    LabelSelector,
    parse_selector_text,
)

_EXAMPLE = "An example: zone=='z1' && kubelet_minor < `37`"

Search = Callable[[Any], Any]


@dataclass(frozen=True)
class NodeSelection:
    """Exactly one of the three is set.

    node_selector: kubectl's form, "a=b,c in (d,e),!f". where: JMESPath; it is asked of each node's
    document (model/documents.py) and must answer true or false.
    """

    nodes: tuple[str, ...] = ()
    node_selector: str = ""
    where: str = ""

    @property
    def empty(self) -> bool:
        return not (self.nodes or self.node_selector or self.where)


def check_selection(selection: NodeSelection) -> None:
    """Raises InvalidOption for what can be seen before the cluster is read: two or none of the
    three, a label selector or an expression that does not parse."""
    given = [name for name in ("nodes", "node_selector", "where") if getattr(selection, name)]
    if not given:
        raise InvalidOption(
            "nodes",
            "no node is selected.",
            "Set exactly one of nodes, node_selector and where.",
        )
    if len(given) > 1:
        raise InvalidOption(
            given[1],
            f"nodes are selected by {' and by '.join(given)}.",
            "Set exactly one of nodes, node_selector and where.",
        )
    if selection.node_selector:
        _parsed_labels(selection.node_selector)
    if selection.where:
        _compiled(selection.where)


def select(
    selection: NodeSelection, fleet: Fleet, *, ignore_not_found: bool = False
) -> tuple[Node, ...]:
    """Returns the selected nodes by name, each once.

    Raises InvalidOption (see check_selection), and Refused when a name is unknown or nothing
    matches: a drain of no node would look like a success. ignore_not_found: names that are unknown
    are left out, as those of nodes that the caller has seen and that may be gone since.
    """
    check_selection(selection)
    if selection.nodes:
        if not ignore_not_found:
            _refuse_unknown(not_found(selection, fleet))
        wanted = sorted(set(selection.nodes))
        return tuple(fleet.node_by_name[name] for name in wanted if name in fleet.node_by_name)
    if selection.node_selector:
        labels = _parsed_labels(selection.node_selector)
        matching = [node for node in fleet.nodes if labels.matches(node.meta.labels)]
        return _some(matching, f"node_selector {selection.node_selector}", fleet)
    search = _compiled(selection.where)
    matching = [node for node in fleet.nodes if _answer(search, selection.where, node, fleet)]
    return _some(matching, f"where {selection.where}", fleet)


def not_found(selection: NodeSelection, fleet: Fleet) -> tuple[str, ...]:
    """Returns the names that no node of the fleet has, in order."""
    return tuple(sorted(set(selection.nodes) - fleet.node_by_name.keys()))


def _refuse_unknown(unknown: Sequence[str]) -> None:
    if unknown:
        raise Refused(
            f"{'Node' if len(unknown) == 1 else 'Nodes'} {', '.join(unknown)}",
            "unknown_nodes",
            "not in this cluster.",
            "Check the spelling, and that this is the cluster you mean (kubectl get nodes).",
        )


def _some(matching: list[Node], what: str, fleet: Fleet) -> tuple[Node, ...]:
    if not matching:
        raise Refused(
            what,
            "nothing_selected",
            f"matches none of the {len(fleet.nodes)} nodes.",
            "Compare it with what fleet_info returns for a node.",
        )
    return tuple(sorted(matching, key=lambda node: node.name))


def _parsed_labels(text: str) -> LabelSelector:
    try:
        return parse_selector_text(text)
    except InvalidSelector as problem:
        raise InvalidOption(
            "node_selector", f"{problem}.", "kubectl's form is a=b,c in (d,e),!f."
        ) from problem


def _compiled(expression: str) -> Search:
    # In here: modules that select by name work without the library.
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError as problem:
        raise InvalidOption(
            "where",
            "the Python library jmespath is not installed where this runs.",
            "Install it (pip install jmespath), or select by nodes or node_selector.",
        ) from problem
    try:
        search: Search = jmespath.compile(expression).search
    except JMESPathError as problem:
        raise InvalidOption("where", _syntax_problem(expression, problem), _EXAMPLE) from problem
    return search


def _syntax_problem(expression: str, problem: Any) -> str:
    """Names the position, counted from 1, and the token there."""
    position = getattr(problem, "lex_position", getattr(problem, "lexer_position", None))
    if position is None or position >= len(expression):
        return f"the expression {expression!r} ends too early, at position {len(expression) + 1}."
    return f"{expression!r} is not JMESPath at position {position + 1}, {expression[position:]!r}."


def _answer(search: Search, expression: str, node: Node, fleet: Fleet) -> bool:
    from jmespath.exceptions import JMESPathError

    try:
        result = search(node_document(node, fleet))
    except JMESPathError as problem:
        raise InvalidOption(
            "where", f"{expression!r} fails on node {node.name}: {problem}.", _EXAMPLE
        ) from problem
    # A comparison with a key that this node lacks (a GPU that it has not) gives null: no match.
    if result is None or isinstance(result, bool):
        return bool(result)
    raise InvalidOption(
        "where",
        f"{expression!r} gives {result!r} for node {node.name}, which is not true or false.",
        _EXAMPLE,
    )
