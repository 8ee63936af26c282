# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The fields of CAST AI's RebalancingPlan and their JSON types, by the names of its schemas, as its
public OpenAPI document has them; and the values of its enumerations."""

from __future__ import annotations

REFERENCE = {
    "AggressiveModeConfig": (
        "ignoreLocalPersistentVolumes:boolean ignoreProblemJobPods:boolean "
        "ignoreProblemRemovalDisabledPods:boolean ignoreProblemPodsWithoutController:boolean "
        "ignoreInstanceCriteria:boolean aggressiveEviction:boolean drainTimeoutSeconds:string "
        "ignoreBlockingPdb:boolean ignoreZeroNodePoolDisruptionBudgets:boolean "
        "ignoreProblemRemovalDisabledNodes:boolean ignoreConsolidatable:boolean "
        "ignoreBlockingPdbTimeout:string ignoreProblemRemovalDisabledPodsTimeout:string"
    ),
    "Configuration_FailedNode": "name:string attempts:array",
    "Configuration_Node": (
        "instanceType:string milliCpu:integer memoryMib:integer isSpot:boolean priceHourly:string "
        "name:string"
    ),
    "Configurations": (
        "blue:object green:object diff:object achievedDiff:object achieved:object "
        "recommendations:object"
    ),
    "Configurations_Configuration": (
        "nodes:array totals:object clusterTotals:object failedNodes:array"
    ),
    "Configurations_ConfigurationTotals": "affectedNodeTotals:object clusterTotals:object",
    "Configurations_Diff": (
        "priceHourly:string priceMonthly:string savingsPercentage:string "
        "clusterSavingsPercentage:string"
    ),
    "Configurations_Recommendations": "applied:boolean",
    "Configurations_Totals": (
        "nodes:integer replaceableNodes:integer migratablePods:integer milliCpu:integer "
        "memoryMib:integer priceHourly:string priceMonthly:string pods:integer "
        "problematicPods:integer"
    ),
    "ExecutionProgress": (
        "nodesCreated:integer nodesToCreate:integer nodesDeleted:integer nodesToDelete:integer "
        "nodesDrained:integer nodesToDrain:integer nodePoolBudgets:array budgetWaitState:string"
    ),
    "FailedNode_FailedAttempt": "instanceType:string description:string",
    "NodePoolBudgetInfo": (
        "nodePoolName:string totalNodes:integer allowedDisruptions:integer "
        "disruptingCount:integer remainingDisruptions:integer"
    ),
    "RebalancingError": "code:string message:string affectedResource:string",
    "RebalancingNode": "nodeName:string",
    "RebalancingPlan": (
        "id:string organizationId:string clusterId:string status:string createTime:string "
        "updateTime:string executeTime:string completeTime:string errors:array "
        "configurations:object rebalancingNodes:array scheduleName:string "
        "executionProgress:object warnings:array aggressiveModeConfig:object skippedReason:string "
        "skippedMessage:string"
    ),
    "RebalancingWarning": "description:string",
}
ENUMERATIONS = {
    "status": [
        "REBALANCING_PLAN_STATUS_UNSPECIFIED",
        "GENERATING",
        "READY",
        "EXECUTING",
        "COMPLETED",
        "FAILED",
        "CANCELED",
        "PARTIALLY_COMPLETED",
        "STALE",
        "SKIPPED",
        "EXPIRED",
    ],
    "code": [
        "REBALANCING_ERROR_CODE_UNSPECIFIED",
        "GENERATION_FAILED",
        "UPSCALING_FAILED",
        "NODE_DRAIN_FAILED",
        "NODE_CREATE_FAILED",
        "NODE_PREPARE_FAILED",
        "NODE_DELETE_FAILED",
        "TIMEOUT",
        "INSUFFICIENT_SAVINGS",
        "UNKNOWN",
        "INSUFFICIENT_CAPACITY",
        "OPERATION_CANCELED",
        "QUOTA_EXCEEDED",
    ],
    "budgetWaitState": [
        "BUDGET_WAIT_STATE_UNSPECIFIED",
        "BUDGET_WAIT_STATE_AVAILABLE",
        "BUDGET_WAIT_STATE_BLOCKED",
    ],
}
