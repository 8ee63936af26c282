# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin with all its controllers, of a cluster that is told in a few lines or was copied."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour import catalogue
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import parse_pace
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import Pool
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.loaded import (
    Loaded,
    learned_pace,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import (
    ClusterSpec,
    Made,
    made_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin


def twin_of(
    spec: ClusterSpec,
    settings: Settings,
    *,
    pools: Sequence[Pool] = (),
    pace: Optional[Mapping[str, Any]] = None,
) -> Twin:
    """Not started yet. Its pods are made and placed once it is, in the twin's own time.

    pools: of nodes that come for pods that fit nowhere. pace: in the form of behaviour/pace, of
    pods whose workload does not say how long they take.
    Raises Refusal for a name that the API would not take.
    """
    behaviour = catalogue.Settings(parse_pace(pace or {}), settings.seed, tuple(pools))
    controllers = catalogue.all_controllers(behaviour)
    twin = Twin(settings, controllers)
    for made in made_of(spec):
        _make(twin, made)
    return twin


def twin_loaded(
    objects: Iterable[Made],
    settings: Settings,
    *,
    pools: Sequence[Pool] = (),
    pace: Optional[Mapping[str, Any]] = None,
) -> Twin:
    """Not started yet. Of objects with their status, as snapshot.read() and load.live() return
    them: what ran in their cluster runs at once.

    pools, pace: as for twin_of(); what pace leaves open is learned.
    Raises InvalidOption for objects that do not fit together.
    """
    loaded = Loaded.of(objects)
    learned = learned_pace(loaded.pods, pace or {})
    behaviour = catalogue.Settings(learned, settings.seed, tuple(pools))
    controllers = catalogue.all_controllers(behaviour)
    twin = Twin(settings, controllers)
    for made in loaded.objects():
        twin.api.lifecycle.restore(twin.api.kinds.named(made.resource), made.object)
    return twin


def _make(twin: Twin, made: Made) -> None:
    metadata = made.object["metadata"]
    if twin.store.get(Key(made.resource, made.namespace, metadata["name"])) is None:
        kind = twin.api.kinds.named(made.resource)
        twin.api.lifecycle.create(kind, made.object, made.namespace)
