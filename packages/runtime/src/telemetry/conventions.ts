/**
 * The names that spans, records of the audit trail and their attributes have. They follow OpenTelemetry's conventions for generative AI and MCP, which are
 * in development: repository semantic-conventions-genai 0.1.0, on semantic conventions 1.41. A change of theirs is a change of
 * this file alone, and of the test that pins it.
 */
export const conventions = {
  scope: { name: "callgate", schemaVersion: "genai-0.1.0" },
  spans: {
    /** `callgate.run`: theirs know no run of a program. */
    run: "callgate.run",
    tool: (tool: string) => `execute_tool ${tool}`,
    request: (method: string, target: string) => `${method} ${target}`,
  },
  attributes: {
    operation: "gen_ai.operation.name",
    agent: "gen_ai.agent.name",
    tool: "gen_ai.tool.name",
    toolType: "gen_ai.tool.type",
    callId: "gen_ai.tool.call.id",
    callArguments: "gen_ai.tool.call.arguments",
    callResult: "gen_ai.tool.call.result",
    method: "mcp.method.name",
    errorType: "error.type",
    user: "user.id",
    userRoles: "user.roles",
    service: "service.name",
    serviceVersion: "service.version",
    tenant: "callgate.tenant",
    runId: "callgate.run.id",
    runKind: "callgate.run.kind",
    runStatus: "callgate.run.status",
    runEpoch: "callgate.run.epoch",
    effect: "callgate.effect",
    effectStatus: "callgate.effect_status",
    outcome: "callgate.outcome",
    decision: "callgate.decision",
    ruleId: "callgate.rule.id",
    cached: "callgate.cached",
    attempt: "callgate.attempt",
    /** Beginning of names that are ours alone. */
    own: "callgate.",
  },
  events: { asked: "callgate.approval.asked", answered: "callgate.approval.answered", attempt: "callgate.attempt", late: "callgate.late_result", audit: "callgate.audit", checked: "callgate.checked" },
  toolOperation: "execute_tool",
  toolType: "function",
} as const;
