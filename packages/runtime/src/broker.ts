// Door: the broker, the default policy, and ways to ask people.

export { createBroker } from "./broker/broker.ts";
export type { Broker } from "./broker/broker.ts";
export type { BrokerCatalog, BrokerSeams, BrokerTool, CallRequest, PerformedCall, ToolLogRecord } from "./broker/call.ts";
export { callbackApprover, denyingApprover, keepingApprover } from "./approval/approvers.ts";
export { signAnswer } from "./approval/answer-digest.ts";
export { createApproverKey, readApproverKey, unlockApproverKey } from "./approval/approver-key.ts";
export type { SealedApproverKey } from "./approval/approver-key.ts";
export { createDefaultPolicy, defaultDecision, defaultResultDecision, defaultRunDecision, outflowRule } from "./policy/default-policy.ts";
export { createRolloutPolicy } from "./policy/rollout-policy.ts";
export { defineInterceptor } from "./broker/interceptors.ts";
export type { CallLimitOptions } from "./limits/call-limits.ts";
export { globMatches, qualifiedGlob, questionProblem, segmentProblem } from "./lib/name-glob.ts";
export type { NameGlob } from "./lib/name-glob.ts";
