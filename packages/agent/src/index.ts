// Door: agents. Anything exported here is public.

export type { Agent, AgentStream, ResumeOptions, TaskOptions } from "./agent.ts";
export type { AgentEvent } from "./agent-event.ts";
export type { AgentLimits, AgentMode, AgentModel, AgentOptions, ModelPrice } from "./agent-options.ts";
export { defaultAgentLimits } from "./agent-options.ts";
export type { AgentEffects, AgentResult, AgentStop, AgentUsage, BudgetName, CallReport, CallStatus, EscalationAnswer, EscalationItem, TurnUsage } from "./agent-result.ts";
export { createAgent } from "./create-agent.ts";
export type { PromptName } from "./prompts.ts";
export { promptNames, promptText } from "./prompts.ts";
export type { SessionState, UserQuestion, WaitingCall } from "./session/session-state.ts";
export { handoff } from "./tools/handoff.ts";
export { createCassette } from "./model/cassette.ts";
export type { Cassette, CassetteOptions } from "./model/cassette.ts";
export { scriptedModel } from "./model/scripted-model.ts";
export type { ScriptedModel, ScriptedTurn } from "./model/scripted-model.ts";
export { agentTool } from "./agent-tool.ts";
export type { AgentToolOptions } from "./agent-tool.ts";
export { createTeam } from "./create-team.ts";
export type { Team, TeamOptions, TeamOrder, TeamResult, TeamTurn } from "./create-team.ts";
export { aiTools } from "./ai-tools.ts";
export type { AiToolsOptions } from "./ai-tools.ts";
export { aiSdkTools } from "./interop/ai-sdk-tools.ts";
export type { AiSdkTool } from "./interop/ai-sdk-tools.ts";
export { langchainTools } from "./interop/langchain-tools.ts";
export type { InteropOptions } from "./interop/offered-tools.ts";
export { openaiAgentsTools } from "./interop/openai-agents-tools.ts";
export { anthropicProgrammaticTools, openaiProgrammaticTools } from "./interop/programmatic-tools.ts";
export type { AnthropicAnswer, AnthropicProgrammaticTools, OpenaiProgrammaticTools, ProgrammaticOptions } from "./interop/programmatic-tools.ts";
