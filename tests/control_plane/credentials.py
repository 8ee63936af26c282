# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who may talk to the plane: static tokens, signed ServiceAccount tokens, kubeconfigs."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

from .components import ORDER, SERVICE_ACCOUNT_ISSUER, Layout

# Users that a test is given one of, each for itself: the audit log then tells tests apart.
# runner-*: everything is allowed. limited-*: nothing is, until RBAC says so.
USERS_PER_KIND = 2000

# The API server accepts a ServiceAccount token for one minute after its expiry (leeway for clocks).
LEEWAY_SECONDS = 60


def write_credentials(layout: Layout) -> None:
    """The token file and the signing key; both are secrets of this machine only."""
    _write_private(layout.tokens, "".join(_token_lines()))
    _write_private(layout.signing_key, _new_private_key())


def _token_lines() -> list[str]:
    lines = ['admin,admin,admin,"system:masters"\n']
    lines += [f'{name},{name},{name},"system:masters,components"\n' for name in ORDER[2:]]
    for number in range(USERS_PER_KIND):
        runner, limited = f"runner-{number:04}", f"limited-{number:04}"
        lines.append(f'{runner},{runner},{runner},"system:masters,observed"\n')
        lines.append(f'{limited},{limited},{limited},"observed"\n')
    return lines


def _new_private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return (
        ec.generate_private_key(ec.SECP256R1())
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        .decode()
    )


def kubeconfig(server: str, certificate: Path, user: dict[str, Any]) -> str:
    """A kubeconfig with one context; `user` is its user entry, such as {"token": ...}."""
    authority = base64.b64encode(certificate.read_bytes()).decode()
    return _kubeconfig(server, {"certificate-authority-data": authority}, user)


def component_kubeconfig(server: str, certificate: Path, token: str) -> str:
    """For a component, which starts before the API server has written its certificate."""
    return _kubeconfig(server, {"certificate-authority": str(certificate)}, {"token": token})


def _kubeconfig(server: str, authority: dict[str, str], user: dict[str, Any]) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": server, **authority}}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    return json.dumps(document, indent=1) + "\n"


def service_account_token(
    key_file: Path, namespace: str, name: str, uid: str, seconds: float
) -> str:
    """A token that the API server refuses `seconds` from now (and up to 10 s of cache later).

    The TokenRequest API makes none that lives less than ten minutes.
    """
    now = int(time.time())
    claims = {
        "iss": SERVICE_ACCOUNT_ISSUER,
        "aud": [SERVICE_ACCOUNT_ISSUER],
        "sub": f"system:serviceaccount:{namespace}:{name}",
        "iat": now - LEEWAY_SECONDS,
        "nbf": now - LEEWAY_SECONDS,
        "exp": int(now + seconds) - LEEWAY_SECONDS,
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": uid},
        },
    }
    return _signed(claims, key_file)


def _signed(claims: dict[str, Any], key_file: Path) -> str:
    """A JSON Web Token, ES256 (RFC 7515, RFC 7518 section 3.4: r and s, 32 bytes each)."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    key = serialization.load_pem_private_key(key_file.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    parts = [_base64url(json.dumps(part).encode()) for part in ({"alg": "ES256"}, claims)]
    signature = key.sign(".".join(parts).encode(), ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(signature)
    return ".".join([*parts, _base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))])


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _write_private(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
