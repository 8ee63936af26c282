# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An exec plugin of a kubeconfig: prints a ServiceAccount token of a short life.

Run as: python issue_token.py KEY_FILE NAMESPACE NAME UID SECONDS LOG
LOG gets one line per call.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path


def main(key: str, namespace: str, name: str, uid: str, seconds: str, log: str) -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.control_plane.credentials import service_account_token

    expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=int(seconds))
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {
            "token": service_account_token(Path(key), namespace, name, uid, int(seconds)),
            "expirationTimestamp": expiry.strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    }
    with open(log, "a") as file:
        file.write(expiry.isoformat() + "\n")
    print(json.dumps(credential))


if __name__ == "__main__":
    main(*sys.argv[1:])
