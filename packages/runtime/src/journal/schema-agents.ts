/** The migration with which it is looked up at once whether an agent has completed a program (schema.ts). */
export const agentsMigration = `
create index runs_completed_by_agent on runs (tenant, agent, started_at_ms desc, run_no desc) where kind = 'program' and status = 'completed' and agent is not null;
`;
