# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An admission webhook on this machine, whose answers a test decides."""

from __future__ import annotations

import base64
import datetime
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .answering import json_handler
from .api import Document


@dataclass(frozen=True)
class Denied:
    """The answer that refuses; `code` is the HTTP status that the API server passes on."""

    message: str
    code: int = 403


Decide = Callable[[Document], "Denied | None"]


class Webhook:
    """Serves AdmissionReviews over HTTPS; `decide` is given each request (its AdmissionRequest)
    and returns a refusal, or None to allow. `requests` are those it was given, oldest first."""

    def __init__(self, decide: Decide, scratch: Path) -> None:
        self.decide = decide
        self.requests: list[Document] = []
        self.was_probed = False
        certificate, key = _self_signed()
        file = scratch / "webhook.pem"
        file.write_bytes(certificate + key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        self.authority = certificate
        self._server = _Server(("127.0.0.1", 0), json_handler(self.answer))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_address[1]}/"

    def answer(self, review: Document) -> Document:
        request = review["request"]
        denied = None
        if request["resource"]["resource"] == PROBED:
            self.was_probed = True
        else:
            self.requests.append(request)
            denied = self.decide(request)
        response: Document = {"uid": request["uid"], "allowed": denied is None}
        if denied is not None:
            response["status"] = {"message": denied.message, "code": denied.code}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


# The webhook is also called for these, and allows them: so a test sees when it is in force.
PROBED = "configmaps"


def configuration(
    name: str, namespaces: list[str], resources: list[str], webhook: Webhook, failure: str
) -> Document:
    """A ValidatingWebhookConfiguration for `resources` (such as pods/eviction)."""
    selector = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces}
    rule = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": [*resources, PROBED],
    }
    return {
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "clientConfig": {
                    "url": webhook.url,
                    "caBundle": base64.b64encode(webhook.authority).decode(),
                },
                "namespaceSelector": {"matchExpressions": [selector]},
                "rules": [rule],
                "failurePolicy": failure,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 5,
            }
        ],
    }


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The API server closes its connections as it likes."""


def _self_signed() -> tuple[bytes, bytes]:
    """A certificate for 127.0.0.1 and its key, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook of a test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM), secret
