/** `PRAGMA application_id` of a journal: "cgjl". Tells our file from another program's database. */
export const applicationId = 0x63676a6c;

/**
 * The schema, one migration a step, applied in order; `PRAGMA user_version` counts those applied. Never edit one that
 * was released: add the next.
 *
 * Every row names its tenant and user. `runs.owner`, `epoch` and `lease_until_ms` say who drives a run: today the owner
 * tells a running run from one whose process died; leases fence on `epoch`. `entries` is append-only and holds nothing
 * in clear; `payloads` holds the clear values, sealed under the run's key in `run_keys`.
 */
export const migrations: readonly string[] = [
  `
create table owners (
  owner_id text primary key,
  machine text not null,
  pid integer not null,
  process_start text,
  started_at_ms integer not null,
  heartbeat_at_ms integer not null,
  closed_at_ms integer,
  -- 1 once the file was checked after this owner died without closing
  verified integer not null default 0
) strict;

create table runs (
  run_id text primary key,
  tenant text not null,
  user_id text not null,
  agent text,
  task text,
  kind text not null,
  status text not null,
  lane text not null,
  started_at_ms integer not null,
  ended_at_ms integer,
  program_digest text,
  result_number integer,
  replay_of text,
  -- JSON: roles, claims, language, seed, limits, driver, interfaces, policyVersion
  head text not null,
  -- JSON: error (without its free text), tokens
  finish text,
  owner text references owners (owner_id),
  epoch integer not null default 0,
  lease_until_ms integer
) strict;
create index runs_by_start on runs (tenant, started_at_ms desc);
create index runs_by_task on runs (tenant, task) where task is not null;
create index runs_by_end on runs (ended_at_ms) where ended_at_ms is not null;
create index runs_running on runs (owner) where status = 'running';

create table run_keys (
  run_id text primary key references runs (run_id) on delete cascade,
  tenant text not null,
  user_id text not null,
  master_id text not null,
  wrapped blob not null
) strict;

create table entries (
  run_id text not null references runs (run_id) on delete cascade,
  position integer not null,
  tenant text not null,
  user_id text not null,
  kind text not null,
  at_ms integer not null,
  -- the call's issue order; of a result its number
  seq integer,
  idempotency_key text,
  -- JSON: the entry in its erased form
  body text not null,
  primary key (run_id, position)
) strict, without rowid;
create index entries_by_key on entries (tenant, idempotency_key) where idempotency_key is not null;
create index entries_by_seq on entries (run_id, kind, seq) where seq is not null;

create table payloads (
  payload_id integer primary key,
  run_id text not null references runs (run_id) on delete cascade,
  -- of the entry; -1 the program text, -2 the error a run ended with
  position integer not null,
  tenant text not null,
  user_id text not null,
  -- 1 when there is more in it than a value
  texts integer not null,
  sealed blob not null
) strict;
create unique index payloads_by_entry on payloads (run_id, position);

create table blob_refs (
  run_id text not null references runs (run_id) on delete cascade,
  digest text not null,
  tenant text not null,
  user_id text not null,
  bytes integer not null,
  primary key (run_id, digest)
) strict, without rowid;
create index blob_refs_by_digest on blob_refs (tenant, digest);

create view calls as
select
  i.tenant, i.user_id, i.run_id, i.seq,
  i.body ->> 'callId' as call_id,
  i.body ->> 'tool' as tool,
  i.body ->> 'effect' as effect,
  i.idempotency_key,
  i.at_ms as issued_at_ms,
  d.body ->> 'decision' as decision,
  d.body ->> 'ruleId' as rule_id,
  d.body ->> 'answeredBy' as answered_by,
  e.at_ms as ended_at_ms,
  e.body ->> 'outcome' as outcome,
  coalesce(
    l.body ->> 'effectStatus',
    e.body ->> 'effectStatus',
    -- no end is recorded: it began unless it is a read or was not let through
    case when i.body ->> 'effect' = 'read' or d.body ->> 'decision' <> 'allow' then 'none' else 'unknown' end
  ) as effect_status
from entries i
left join entries d on d.run_id = i.run_id and d.position =
  (select max(position) from entries where run_id = i.run_id and kind = 'call-decided' and seq = i.seq)
left join entries e on e.run_id = i.run_id and e.kind = 'call-ended' and e.seq = i.seq
left join entries l on l.run_id = i.run_id and l.position =
  (select max(position) from entries where run_id = i.run_id and kind = 'call-late' and seq = i.seq)
where i.kind = 'call-issued' and i.seq is not null;
`,
];
