# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin's certificate and the kubeconfig that leads to it."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import (
    VIRTUAL_TIME,
)

CONTEXT = "evenkeel-twin"

_DAYS = 30


@dataclass(frozen=True)
class Certificate:
    """PEM. It signs itself: who trusts it trusts this twin and nothing else."""

    certificate: bytes
    key: bytes


def new_certificate(host: str) -> Certificate:
    """For a server at this IP address, valid for a month from a day ago (clocks differ)."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, CONTEXT)])
    now = datetime.now(timezone.utc)
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ip_address(host)), x509.DNSName("localhost")]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Certificate(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def server_context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("tls.crt", "tls.key")]
        for path, content in zip(paths, (certificate.certificate, certificate.key)):
            with open(path, "wb") as file:
                file.write(content)
        context.load_cert_chain(*paths)
    return context


def kubeconfig(
    server: str, certificate: Certificate, token: str, *, virtual: bool
) -> dict[str, Any]:
    """The only cluster and the only user in it are the twin's."""
    cluster: dict[str, Any] = {
        "server": server,
        "certificate-authority-data": base64.b64encode(certificate.certificate).decode(),
    }
    if virtual:
        cluster["extensions"] = [{"name": VIRTUAL_TIME, "extension": {}}]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
    }


def write_private(path: str, document: dict[str, Any]) -> None:
    """JSON, which is YAML; readable by its owner only, from the first byte on."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
