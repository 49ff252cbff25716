/**
 * Names of the OpenTelemetry semantic conventions that are written, as they were in version 1.38 (generative AI: development).
 * All are here, so that a new version of the conventions is a change of this file. What the conventions have no name for is
 * `callgate.*`.
 */
export const otelNames = {
  service: "service.name",
  serviceVersion: "service.version",
  operation: "gen_ai.operation.name",
  /** Value of `operation`. */
  executeTool: "execute_tool",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  callId: "gen_ai.tool.call.id",
  callArguments: "gen_ai.tool.call.arguments",
  callResult: "gen_ai.tool.call.result",
  agentName: "gen_ai.agent.name",
  user: "user.id",
  userRoles: "user.roles",
  errorType: "error.type",
  /** Name of the event. */
  auditEvent: "callgate.audit",
  own: "callgate.",
} as const;
