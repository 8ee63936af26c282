# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What stops a whole call. What stops one workload is an Outcome of the report (report.py).

FleetError
  InvalidOption     an option's value is wrong; found before anything was read or written
  NotFound          an object that the user named does not exist
  Refused           a rule of ours forbids the act; nothing was written
  LockHeld          another runner holds a node
  LockLost          another runner took a node over while we worked; we stopped
  Superseded        the request that this run serves was withdrawn; we stopped
  Interrupted       a signal, or the death of the process that started us
  ApiFailure        the API server's answer, after all retries
    Unreachable     no answer at all
    Unauthorized    401 that a fresh credential did not cure
    Forbidden       403 by RBAC: names the verb and the resource
    Gone            410: a resourceVersion or a continue token is too old (callers list again)
    Conflict        409 on a write with a precondition
Each carries its fields and a stable `code`; str() is the sentence that a person reads, and names
the object, the rule and the remedy.
"""

from __future__ import annotations


class FleetError(Exception):
    """Base. `code` is stable and documented; `remedy` is a full sentence or empty."""

    code = "failed"

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}".strip()


class InvalidOption(FleetError):
    """`option` is the option's name as the user typed it."""

    code = "invalid_option"

    def __init__(self, option: str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{option}: {problem}", remedy)
        self.option = option


class MissingLibrary(FleetError):
    """A Python library that this call needs cannot be imported by its interpreter."""

    code = "missing_library"

    def __init__(self, library: str, interpreter: str, reason: str) -> None:
        super().__init__(
            f"The Python library {library} is missing for {interpreter} ({reason}).",
            f"Install it for that interpreter: {interpreter} -m pip install {library}",
        )
        self.library = library


class NotFound(FleetError):
    """`kind` and `name` (namespace/name where there is one) say what was looked for."""

    code = "not_found"

    def __init__(self, kind: str, name: str, remedy: str = "") -> None:
        super().__init__(f"{kind} {name} does not exist.", remedy)
        self.kind = kind
        self.name = name


class Refused(FleetError):
    """`subject` is the object ("Node n1"), `rule` the rule's name, one of model.codes."""

    def __init__(self, subject: str, rule: str, problem: str, remedy: str) -> None:
        super().__init__(f"{subject}: {problem}", remedy)
        self.subject = subject
        self.code = rule


class LockHeld(FleetError):
    """`until` is when the holder's claim ends unless it is renewed, RFC 3339."""

    code = "lock_held"

    def __init__(self, node: str, holder: str, until: str) -> None:
        super().__init__(
            f"Node {node} is held by {holder} until {until}.",
            "Wait for that run, or end it; its claim expires by itself once it is gone.",
        )
        self.node = node
        self.holder = holder
        self.until = until


class LockLost(FleetError):
    code = "lock_lost"

    def __init__(self, node: str, holder: str) -> None:
        super().__init__(
            f"Node {node} was taken over by {holder} while this run was silent; this run stopped.",
            "Look at that run, or start this one again to join it.",
        )
        self.node = node
        self.holder = holder


class Superseded(FleetError):
    code = "superseded"

    def __init__(self, node: str, problem: str) -> None:
        super().__init__(f"Node {node}: {problem}; this run stopped before its next act.")
        self.node = node


class Interrupted(FleetError):
    """`cause` says what happened: "SIGTERM", "the parent process 4711 is gone"."""

    code = "interrupted"

    def __init__(
        self, cause: str, remedy: str = "Start it again to go on from there, or undo what was done."
    ) -> None:
        super().__init__(f"Stopped by {cause}.", remedy)
        self.cause = cause


class ApiFailure(FleetError):
    """`status` is the HTTP status (0 without an answer), `reason` the Status object's reason."""

    code = "api_failure"

    def __init__(
        self, problem: str, remedy: str = "", *, status: int = 0, reason: str = ""
    ) -> None:
        super().__init__(problem, remedy)
        self.status = status
        self.reason = reason


class Unreachable(ApiFailure):
    code = "unreachable"


class Unauthorized(ApiFailure):
    code = "unauthorized"


class Forbidden(ApiFailure):
    """`verb` and `resource` are RBAC's words ("create", "pods/eviction"); `user` may be unknown."""

    code = "forbidden"

    def __init__(
        self,
        problem: str,
        remedy: str = "",
        *,
        status: int = 403,
        reason: str = "",
        verb: str = "",
        resource: str = "",
        user: str = "",
    ) -> None:
        super().__init__(problem, remedy, status=status, reason=reason)
        self.verb = verb
        self.resource = resource
        self.user = user


class Gone(ApiFailure):
    code = "gone"


class Conflict(ApiFailure):
    code = "conflict"
