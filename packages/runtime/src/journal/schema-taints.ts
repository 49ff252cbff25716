/** The migration with which labels are kept (schema.ts). */
export const taintsMigration = `
-- labels that reached runs and the tasks, conversations and sessions they are part of: of one label the first answer that brought it
create table taints (
  tenant text not null,
  scope_kind text not null,
  scope_user text not null,
  scope_id text not null,
  label text not null,
  tool text not null,
  run_id text not null,
  seq integer not null,
  at_ms integer not null,
  primary key (tenant, scope_kind, scope_user, scope_id, label)
) strict, without rowid;
create index taints_by_time on taints (at_ms);
`;
