/**
 * The schema, one migration a step, applied in order under an advisory lock; `callgate.schema_version` counts those
 * applied. Never edit one that was released: add the next.
 *
 * The tables are those of the SQLite journal. A position in a run is given out by `runs.next_position`: a write that
 * names the position it expects is done once, whatever becomes of its answer.
 */
export const migrations: readonly string[] = [
  `
create table callgate.owners (
  owner_id text primary key,
  machine text not null,
  pid integer not null,
  process_start text,
  started_at_ms bigint not null,
  heartbeat_at_ms bigint not null,
  closed_at_ms bigint
);

create table callgate.runs (
  run_id text primary key,
  -- the order in which runs began
  ordinal bigint generated always as identity,
  tenant text not null,
  user_id text not null,
  agent text,
  task text,
  kind text not null,
  status text not null,
  lane text not null,
  started_at_ms double precision not null,
  ended_at_ms double precision,
  program_digest text,
  result_number integer,
  replay_of text,
  head text not null,
  finish text,
  call_count integer,
  owner text references callgate.owners (owner_id),
  epoch integer not null,
  lease_until_ms bigint,
  next_position integer not null default 0,
  program_sealed bytea,
  error_sealed bytea,
  waits text,
  waits_sealed bytea,
  wake_at_ms double precision,
  due_at_ms double precision
);
create index runs_by_start on callgate.runs (tenant, started_at_ms desc, ordinal desc);
create index runs_by_end on callgate.runs (ended_at_ms) where ended_at_ms is not null;
create index runs_running on callgate.runs (lease_until_ms) where status = 'running';
create index runs_due on callgate.runs (due_at_ms) where status = 'suspended';

create table callgate.run_keys (
  run_id text primary key references callgate.runs on delete cascade,
  tenant text not null,
  user_id text not null,
  master_id text not null,
  wrapped bytea not null
);

create table callgate.entries (
  run_id text not null references callgate.runs on delete cascade,
  position integer not null,
  tenant text not null,
  user_id text not null,
  kind text not null,
  at_ms double precision not null,
  seq integer,
  body text not null,
  texts boolean not null,
  sealed bytea,
  primary key (run_id, position)
);
create index entries_results on callgate.entries (run_id, seq) where kind = 'result';

create table callgate.signals (
  run_id text not null references callgate.runs on delete cascade,
  position integer not null,
  tenant text not null,
  user_id text not null,
  kind text not null,
  name text not null,
  key text,
  body text not null,
  sealed bytea,
  primary key (run_id, position)
);
create unique index signals_first on callgate.signals (run_id, kind, name, key) where key is not null;

create table callgate.effects (
  tenant text not null,
  idempotency_key text not null,
  user_id text not null,
  run_id text not null references callgate.runs on delete cascade,
  call_id text not null,
  seq integer not null,
  args_digest text not null,
  primary key (tenant, idempotency_key)
);
create index effects_by_run on callgate.effects (run_id);

create table callgate.blob_refs (
  run_id text not null references callgate.runs on delete cascade,
  digest text not null,
  tenant text not null,
  user_id text not null,
  bytes bigint not null,
  primary key (run_id, digest)
);
create index blob_refs_by_digest on callgate.blob_refs (tenant, digest);

create table callgate.blobs (
  tenant text not null,
  digest text not null,
  bytes bytea not null,
  put_at timestamptz not null default clock_timestamp(),
  primary key (tenant, digest)
);

-- The journal's time: of this server, unless the caller has another.
create function callgate.now_ms(given double precision) returns double precision language sql volatile as
  $$ select coalesce(given, floor(extract(epoch from clock_timestamp()) * 1000)) $$;
`,
  `
-- true while a process has the ended run to undo what it did; owner and lease are then that process's
alter table callgate.runs add column undoing boolean not null default false;
create index runs_undoing on callgate.runs (owner) where undoing;
-- what is open is few, and listed with every look at the questions
create index runs_open on callgate.runs (tenant, status, started_at_ms desc, ordinal desc) where status in ('running', 'suspended');

-- a key outlives its run: what became of the write is then in settled, JSON without its values
alter table callgate.effects drop constraint effects_run_id_fkey;
alter table callgate.effects add column settled text;
alter table callgate.effects add column pruned_at_ms double precision;
create index effects_pruned on callgate.effects (pruned_at_ms) where pruned_at_ms is not null;
`,
  `
-- what budgets hold; window_start_ms 0: it never begins anew; run_id: the count is of one run and goes with it
create table callgate.budget_counts (
  tenant text not null,
  budget_id text not null,
  key text not null,
  window_start_ms bigint not null,
  run_id text,
  calls bigint not null,
  bytes bigint not null,
  duration_ms bigint not null,
  tokens bigint not null,
  micro_usd bigint not null,
  primary key (tenant, budget_id, key, window_start_ms)
);
create index budget_counts_by_run on callgate.budget_counts (run_id) where run_id is not null;

-- what calls that have not ended hold of them, an attempt a row: counted already, and so spent if nobody settles it
create table callgate.budget_reservations (
  tenant text not null,
  call_id text not null,
  number integer not null,
  run_id text not null,
  epoch integer not null,
  -- JSON: the counts it is in, and how much it is
  places text not null,
  amounts text not null,
  primary key (tenant, call_id, number)
);
create index budget_reservations_by_run on callgate.budget_reservations (run_id);
`,
  `
-- The record is chained: every entry has a stamp over itself and the one before it, the run a seal over its last stamp and
-- its end. What an erase drops is kept as its digest. Of runs from before, seal and stamps are null.
alter table callgate.runs add column chained_from integer, add column stamp bytea, add column seal bytea,
  add column program_sealed_digest text, add column error_sealed_digest text;
alter table callgate.entries add column stamp bytea, add column sealed_digest text;
alter table callgate.signals add column sealed_digest text;

-- A lane has one writer, so that writers do not wait for each other; lane 0 lists the lanes.
create sequence callgate.ledger_lanes;
create table callgate.ledger (
  lane integer not null,
  position bigint not null,
  tenant text not null,
  at_ms double precision not null,
  body text not null,
  stamp bytea not null,
  -- of the last line of a lane only: says that it is
  tail bytea,
  primary key (lane, position)
);
create index ledger_by_tenant on callgate.ledger (tenant, at_ms desc);

create table callgate.holds (
  hold_id text primary key,
  tenant text not null,
  user_id text not null,
  reason text not null,
  of_run text,
  of_user text,
  of_agent text,
  of_task text,
  from_ms double precision,
  until_ms double precision,
  placed_at_ms double precision not null,
  released_at_ms double precision,
  released_by text
);
`,
  `
-- labels that reached runs and the tasks, conversations and sessions they are part of: of one label the first answer that brought it
create table callgate.taints (
  tenant text not null,
  scope_kind text not null,
  scope_user text not null,
  scope_id text not null,
  label text not null,
  tool text not null,
  run_id text not null,
  seq integer not null,
  at_ms double precision not null,
  primary key (tenant, scope_kind, scope_user, scope_id, label)
);
create index taints_by_time on callgate.taints (at_ms);
`,
  `
-- Standing grants. body: JSON, the grant as it was signed; what counts of it is read from there.
create table callgate.grants (
  grant_id text primary key,
  tenant text not null,
  user_id text not null,
  body text not null,
  given_at_ms double precision not null,
  expires_at_ms double precision not null,
  revoked_at_ms double precision,
  revoked_by text
);
create index grants_by_tenant on callgate.grants (tenant, given_at_ms desc);

-- a row is one use; they outlive the runs of their calls, so that a use is never given back
create table callgate.grant_uses (
  grant_id text not null,
  call_id text not null,
  tenant text not null,
  at_ms double precision not null,
  primary key (grant_id, call_id)
);
`,
  `
-- whether an agent has completed a program is looked up at once
create index runs_completed_by_agent on callgate.runs (tenant, agent, started_at_ms desc, ordinal desc) where kind = 'program' and status = 'completed' and agent is not null;
`,
];
