# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The catalogue of codes: every code that an Outcome, a Report or an error can carry.

Codes are stable: playbooks and pipelines match on them. docs/guides/codes.md is made from this.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """`meaning` and `remedy` are sentences for the person who reads the code in a log."""

    name: str
    meaning: str
    remedy: str = ""


CODES: tuple[Code, ...] = (
    # What was done.
    Code("cordoned", "The node was closed to new pods."),
    Code("uncordoned", "The node was opened to new pods."),
    Code("evicted", "The Eviction API accepted the pod's eviction and the pod is gone."),
    Code("forced", "The pod was deleted past its budgets, as disable_eviction asks."),
    Code("already_gone", "The pod was gone, or replaced by another of its name, before its turn."),
    # What stopped the call.
    Code("failed", "An error that has no code of its own; the traceback is in `exception`."),
    Code(
        "invalid_option",
        "An option's value is wrong; nothing was read or written.",
        "The message names the option and what it takes.",
    ),
    Code(
        "missing_library",
        "A Python library that the call needs cannot be imported.",
        "Install it for the interpreter that the message names.",
    ),
    Code("not_found", "An object that the user named does not exist.", "Check the spelling."),
    Code(
        "plan_damaged",
        "What is stored of a plan was changed by hand, or is not complete.",
        "Make a new plan, and delete this one.",
    ),
    Code(
        "twin_running",
        "The directory is the home of a twin that was made of something else.",
        "Stop that twin first (state: stopped), or name another directory.",
    ),
    Code(
        "lock_held",
        "Another run holds the node.",
        "Wait for that run, or end it; its claim expires by itself once it is gone.",
    ),
    Code(
        "lock_lost",
        "Another run took the node over while this one was silent; this one stopped.",
        "Look at that run, or start this one again to join it.",
    ),
    Code(
        "superseded",
        "The request that the run served was withdrawn; it stopped before its next act.",
        "Nothing, if that was meant; otherwise start it again.",
    ),
    Code(
        "interrupted",
        "A signal, or the death of the process that started the run, ended it.",
        "Start it again to go on, or run maintenance_exit to undo it.",
    ),
    Code(
        "api_failure",
        "The API server's answer, after all retries, was an error.",
        "The message has the server's own words.",
    ),
    Code(
        "unreachable",
        "The API server did not answer.",
        "Check the address, the network and the proxy; then start the run again.",
    ),
    Code(
        "unauthorized",
        "The API server does not accept the credential, not even a fresh one.",
        "Log in again, or correct kubeconfig, context or api_key.",
    ),
    Code(
        "forbidden",
        "The user lacks a right that the call needs.",
        "Grant the verb and resource that the message names; docs/rbac has them all.",
    ),
    Code(
        "gone",
        "What was read is too old for the API server to go on from.",
        "Start the run again.",
    ),
    Code(
        "conflict",
        "Somebody else kept changing the object at the same moment.",
        "Find out who, then start the run again.",
    ),
    Code(
        "wrong_cluster",
        "The connection leads to another cluster than the option cluster names.",
        "Choose the context that leads there, or correct the option cluster.",
    ),
    # What the user meant: which nodes and pods.
    Code(
        "unknown_nodes",
        "A node was named that the cluster does not have.",
        "Check the spelling, and that this is the cluster you mean.",
    ),
    Code(
        "nothing_selected",
        "A node selector or expression matched no node.",
        "Compare it with what fleet_info returns for a node.",
    ),
    Code("out_of_scope", "The pod is outside pod_selector or namespaces, and was left alone."),
    # What a drain may touch.
    Code("mirror_pod", "A static pod, which its kubelet runs from a file, was left alone."),
    Code(
        "daemonset_pod",
        "The pod's DaemonSet would recreate it on the node at once.",
        "Set ignore_daemonsets: true to leave DaemonSet pods where they are.",
    ),
    Code("terminating", "The pod was terminating already; its UID is waited for."),
    Code("finished", "The pod had finished; nothing runs in it."),
    Code(
        "machine_pod",
        "The pod runs a virtual machine of KubeVirt, which an eviction may stop.",
        "Migrate or stop the machine first, or leave it out with pod_selector.",
    ),
    Code(
        "hotplug_pod",
        "The pod holds a hot-plugged disk of a KubeVirt machine, and moves with it.",
        "Migrate or stop the machine first, or leave it out with pod_selector.",
    ),
    Code(
        "unmanaged",
        "No controller recreates the pod.",
        "Set force: true to evict it for good.",
    ),
    Code(
        "daemonset_gone",
        "The pod's DaemonSet does not exist any more: nothing recreates the pod.",
        "Set force: true to evict it for good.",
    ),
    Code(
        "empty_dir",
        "The data in the pod's emptyDir volume is lost with the pod.",
        "Set delete_emptydir_data: true to accept that.",
    ),
    # Fragile pods, and why one of them waits for its turn.
    Code(
        "single_replica",
        "The owner has one replica: it is down until the replacement is Ready.",
        "Give it a second replica, or accept the gap with fragile: evict.",
    ),
    Code(
        "no_budget",
        "No PodDisruptionBudget covers the pod.",
        "Add a PodDisruptionBudget, or accept one at a time with fragile: evict.",
    ),
    Code(
        "ordered_stateful_set",
        "An OrderedReady StatefulSet replaces an ordinal only while those before it are Ready.",
        "Accept one at a time with fragile: evict.",
    ),
    Code(
        "last_ready_replica",
        "The pod is the last Ready replica of an owner that wants more than one.",
        "Find out why the others are not Ready; it waits until one is.",
    ),
    Code(
        "control_plane_node",
        "The node is of the control plane; no price decides about that.",
        "Leave it out, or roll it with rolling_upgrade.",
    ),
    Code(
        "marked_node",
        "The node is annotated or labelled to be kept.",
        "Remove the mark, or set ignore_problem_removal_disabled_nodes.",
    ),
    Code(
        "job_pod",
        "The pod is of a Job, and its work so far would be lost.",
        "Wait until it has finished, or set ignore_problem_job_pods.",
    ),
    Code(
        "local_volume",
        "The pod's data is on the node itself.",
        "Move the data, or set ignore_local_persistent_volumes, which loses it.",
    ),
    Code(
        "marked_fragile",
        "An annotation on the pod asks not to disturb it.",
        "Ask its owner for a moment that suits, or accept it with fragile: evict.",
    ),
    Code("one_at_a_time", "Another pod of the same owner is still leaving."),
    Code("ordinal_not_ready", "Another ordinal of the StatefulSet is not Ready."),
    Code("replicas_missing", "The owner has fewer Ready replicas than when the drain began."),
    # Why a replacement cannot be brought up first (fragile: surge).
    Code(
        "surge_needs_deployment",
        "Only a Deployment's rollout can bring up a replacement first.",
        "Use fragile: evict or fragile: defer.",
    ),
    Code(
        "surge_strategy",
        "The Deployment's update strategy stops the old pods first.",
        "Set strategy.type: RollingUpdate, or use fragile: evict or fragile: defer.",
    ),
    Code("surge_paused", "The Deployment is paused.", "Resume its rollout."),
    Code("surge_no_replicas", "The Deployment is scaled to 0."),
    Code(
        "surge_gap",
        "The Deployment's maxSurge and maxUnavailable let its rollout leave a gap.",
        "Set rollingUpdate maxSurge: 1 and maxUnavailable: 0.",
    ),
    Code(
        "surge_autoscaler_at_maximum",
        "A HorizontalPodAutoscaler that is at its maximum drives the Deployment.",
        "Raise maxReplicas, or wait for less load.",
    ),
    # What the cluster cannot do without.
    Code(
        "last_schedulable_node",
        "No other node is Ready and open for the pods of the chosen nodes.",
        "Open or add a node first, or set allow_last: true.",
    ),
    Code(
        "control_plane_majority",
        "Without the chosen nodes no majority of the control plane is Ready.",
        "Take control-plane nodes one at a time, or set allow_last: true.",
    ),
    # What preflight finds.
    Code("findings", "preflight found something at the level of fail_on.", "See findings."),
    Code(
        "no_room",
        "By the scheduler's rules, a pod does not fit on any other node.",
        "Add room first, or change what keeps it off the nearest node.",
    ),
    Code(
        "placement_unknown",
        "Whether a pod fits elsewhere depends on something that is not looked at.",
        "Look at it yourself; the finding says what it is.",
    ),
    Code(
        "scheduling_unreadable",
        "Something that decides where pods may run could not be read.",
        "Allow list on it, as docs/rbac/doctor.yml does.",
    ),
    Code(
        "node_left_out",
        "A node reports no allocatable cpu, memory or pods, and was not counted as room.",
        "Look at its kubelet.",
    ),
    Code(
        "budget_selects_nothing",
        "A PodDisruptionBudget selects no pod, and guards nothing.",
        "Correct its selector, or delete it.",
    ),
    Code("webhook_on_evictions", "An admission webhook is asked about evictions."),
    Code(
        "webhooks_unreadable",
        "The admission webhooks could not be read.",
        "Allow list on validatingwebhookconfigurations.",
    ),
    Code(
        "autoscalers_unreadable",
        "The HorizontalPodAutoscalers could not be read.",
        "Allow list on horizontalpodautoscalers.",
    ),
    Code(
        "terminating_past_grace",
        "A pod has been terminating for longer than its grace period.",
        "Look for a finalizer, a volume that does not detach, or a kubelet that hangs.",
    ),
    Code(
        "node_dead",
        "A pod cannot go because its node does not answer.",
        "Once the node is off for certain, state so with fenced: true.",
    ),
    Code(
        "all_ready_replicas",
        "All Ready replicas of an owner are on the chosen nodes; they leave one by one.",
        "Spread its replicas, or drain these nodes one after the other.",
    ),
    # Who holds a node closed.
    Code("already_cordoned", "The node was closed already; the owner's claim stands beside it."),
    Code("already_uncordoned", "The node was open already."),
    Code(
        "held_by_others",
        "The owner gave up its claim; others still hold the node closed.",
        "It opens when the last owner leaves, or with release_all: true.",
    ),
    Code("not_owner", "The owner does not hold the node, which stays as it is."),
    Code(
        "drifted",
        "Somebody uncordoned a node that an owner holds; it was not closed again.",
        "Close it with kubectl cordon to go on, or give the claim up and ask anew.",
    ),
    Code(
        "malformed_owners",
        "The annotation that lists a node's owners cannot be read.",
        "Repair it, or remove it; a closed node then belongs to someone else.",
    ),
    Code("node_gone", "The node was removed, or replaced by another of its name, before its turn."),
    Code("not_reached", "The call ended before this node's turn."),
    # Maintenance.
    Code("entering", "Maintenance was asked for."),
    Code("already_entering", "Maintenance had been asked for already."),
    Code("waiting", "What the node waits for stands on it."),
    Code("in_maintenance", "The node was declared empty."),
    Code("already_in_maintenance", "The node had been declared empty already."),
    Code("withdrawn", "The request for maintenance was taken back; runs that serve it stop."),
    Code("left_maintenance", "What maintenance wrote was removed."),
    Code("not_in_maintenance", "There was nothing of maintenance to remove."),
    Code(
        "not_requested",
        "Nobody asks for maintenance of the node: it was ended by another run, or never begun.",
        "Begin with state: entering.",
    ),
    Code(
        "malformed_record",
        "The annotation with what maintenance set cannot be read.",
        "Repair it, or remove it and then the protections by hand.",
    ),
    # What budgets say (policy/disruption).
    Code("budget_exhausted", "The pod's budget does not allow an eviction now.", "Wait."),
    Code(
        "budget_stale",
        "The pod's budget was changed and the disruption controller has not seen it yet.",
        "Wait; if it lasts, see whether kube-controller-manager runs.",
    ),
    Code(
        "budget_unconfirmed",
        "The pod's budget has too many admitted evictions that are not confirmed yet.",
        "Wait; the disruption controller drops each after two minutes.",
    ),
    Code(
        "budget_sync_failed",
        "The disruption controller could not work the pod's budget out.",
        "Wait for its next try; if it lasts, look at the budget's condition.",
    ),
    Code(
        "budget_allows_none",
        "The pod's budget can never allow an eviction, even with all its pods healthy.",
        "Loosen the budget, or run more replicas than it asks for.",
    ),
    Code(
        "budget_without_scale",
        "The pod's budget always refuses: it counts on a scale that its pods' owner does not have.",
        "Give the budget an integer minAvailable.",
    ),
    Code(
        "several_budgets",
        "More than one budget selects the pod, which the Eviction API refuses.",
        "Change the selectors so that one budget selects the pod.",
    ),
    # Locks.
    Code("no_state_namespace", "The namespace that keeps the locks does not exist.", "Create it."),
    # Settling.
    Code("settled", "The workload has its Ready replicas again."),
    Code("owner_gone", "The workload was deleted meanwhile; nothing is waited for."),
    Code(
        "replicas_not_ready",
        "The workload has fewer Ready replicas than before.",
        "Look at the pods that are named.",
    ),
    Code(
        "back",
        "The node is Ready with its DaemonSet pods, after a reboot where one was asked for.",
    ),
    Code("node_not_ready", "The node does not exist or is not Ready.", "Look at its kubelet."),
    Code(
        "not_rebooted",
        "The node has the boot ID it had before: it did not reboot.",
        "Reboot it.",
    ),
    Code(
        "daemon_pods_not_ready",
        "DaemonSet pods of the node are not Ready.",
        "Look at the pods that are named.",
    ),
    Code(
        "no_boot_id",
        "No boot ID was recorded for the node, so a reboot cannot be told.",
        "Leave boot_id_changed out, or enter maintenance before the reboot.",
    ),
    Code(
        "timeout",
        "The wait ended before all was done; what is missing is pending.",
        "Cure what is named, or raise wait_timeout, and run it again.",
    ),
    # What evict adds: what became of a pod, and why one is still there.
    Code("surged", "A rollout of the pod's owner started a replacement before the pod left."),
    Code("fenced", "The pod was removed because its node is stated to be off."),
    Code(
        "deferred",
        "The pod is fragile and was left where it is, as fragile: defer asks.",
        "Empty the node of it at a moment that suits its owner.",
    ),
    Code("refused", "A pod must not be touched as things stand; nothing was written."),
    Code(
        "comes_back",
        "The pod's owner tolerates the cordon and sends each replacement back to the node.",
        "Remove that toleration, or scale the owner down first.",
    ),
    Code(
        "webhook_denied",
        "An admission webhook denied the eviction.",
        "Ask whoever runs that webhook, or leave the pod out with pod_selector.",
    ),
    Code("policy_denied", "A ValidatingAdmissionPolicy denied the eviction.", "See its message."),
    Code(
        "surge_failed",
        "The owner's rollout could not be restarted.",
        "See the detail, or use fragile: evict.",
    ),
    Code(
        "surge_not_cordoned",
        "The node is open, so a replacement that is started first could land on it.",
        "Cordon it first.",
    ),
    Code(
        "node_is_ready",
        "The node is Ready, so it is not switched off.",
        "Leave fenced out, or switch the machine off first.",
    ),
    Code("not_tried", "The call ended before the pod's turn.", "Run it again."),
    Code("posted", "The pod's eviction was sent, and its answer is not known.", "Run it again."),
    Code("retrying", "The API server's trouble put the eviction off; it is tried again."),
    Code("throttled", "The API server asked for a pause."),
    Code("max_parallel", "As many pods as max_parallel allows were leaving already."),
    Code("evacuating", "A webhook keeps the pod while its machine is moved by other means."),
    Code("namespace_terminating", "The pod's namespace is being deleted, and its pods with it."),
    Code("surging", "The rollout of the pod's owner is under way."),
    Code("fencing", "The pod is being removed from a node that is stated to be off."),
    Code(
        "volume_attached",
        "The pod is gone, its volume is still attached to the node.",
        "Look at the CSI driver's attacher and at the VolumeAttachment.",
    ),
    # What a rehearsal adds.
    Code(
        "would_fail",
        "The rehearsed run fails on the twin, as the real one would.",
        "See what is to be changed first.",
    ),
    Code(
        "budget_wait",
        "Pods would wait for a budget that allows no disruption meanwhile.",
        "Let the budget allow more, or give its workload more replicas first.",
    ),
    Code(
        "unplaced",
        "No node would take what replaces the pod.",
        "Make room for it, or add a node first.",
    ),
)
