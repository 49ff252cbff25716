// Door: the broker, the default policy, and ways to ask people.

export { createBroker } from "./broker/broker.ts";
export type { Broker } from "./broker/broker.ts";
export type { BrokerCatalog, BrokerSeams, BrokerTool, CallRequest, PerformedCall, ToolLogRecord } from "./broker/call.ts";
export { callbackApprover, denyingApprover, keepingApprover } from "./approval/approvers.ts";
export { createDefaultPolicy, defaultDecision, defaultRunDecision } from "./policy/default-policy.ts";
