# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How to reach the API server: the options of kubernetes.core, with its environment variables."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file, or its content as a dictionary.
      - Falls back to E(K8S_AUTH_KUBECONFIG), then E(KUBECONFIG), then C(~/.kube/config). Inside a pod, without any of
        these, the pod's service account is used.
    type: raw
  context:
    description:
      - Name of the context in the kubeconfig. Falls back to E(K8S_AUTH_CONTEXT), then to the current context.
    type: str
  host:
    description:
      - URL of the API server. Falls back to E(K8S_AUTH_HOST).
    type: str
  api_key:
    description:
      - Bearer token. Falls back to E(K8S_AUTH_API_KEY).
    type: str
  username:
    description:
      - User name for HTTP basic authentication. Falls back to E(K8S_AUTH_USERNAME).
    type: str
  password:
    description:
      - Password for HTTP basic authentication. Falls back to E(K8S_AUTH_PASSWORD).
    type: str
  validate_certs:
    description:
      - Whether the API server's certificate is verified. Falls back to E(K8S_AUTH_VERIFY_SSL), then to the kubeconfig.
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description:
      - Path of the certificate authority's file, the full chain. Falls back to E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description:
      - Path of the client certificate. Falls back to E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - Path of the client certificate's key. Falls back to E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  proxy:
    description:
      - URL of an HTTP proxy. Falls back to E(K8S_AUTH_PROXY), then to the kubeconfig.
    type: str
  no_proxy:
    description:
      - Hosts, domains and networks that are reached without the proxy, separated by commas. Falls back to
        E(K8S_AUTH_NO_PROXY).
    type: str
  proxy_headers:
    description:
      - Headers for the proxy. Falls back to E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH),
        E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH) and E(K8S_AUTH_PROXY_HEADERS_USER_AGENT).
    type: dict
    suboptions:
      proxy_basic_auth:
        description:
          - User name and password for the proxy, with a colon between them.
        type: str
      basic_auth:
        description:
          - User name and password for basic authentication, with a colon between them.
        type: str
      user_agent:
        description:
          - What the client calls itself.
        type: str
  persist_config:
    description:
      - Whether renewed tokens are saved in the kubeconfig. Falls back to E(K8S_AUTH_PERSIST_CONFIG).
    type: bool
  impersonate_user:
    description:
      - User to act as. Falls back to E(K8S_AUTH_IMPERSONATE_USER).
    type: str
  impersonate_groups:
    description:
      - Groups to act as, beside O(impersonate_user). Falls back to E(K8S_AUTH_IMPERSONATE_GROUPS), separated by commas.
    type: list
    elements: str
"""
