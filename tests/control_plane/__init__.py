# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A real Kubernetes control plane on this machine, for tests, the demo and use by hand.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the real programs; KWOK plays
the kubelets. See README.md.
"""
