import { callsView, callsViewOfGrants, callsViewOfHeldResults } from "./calls-view.ts";
import { agentsMigration } from "./schema-agents.ts";
import { auditMigration } from "./schema-audit.ts";
import { clocksMigration } from "./schema-clocks.ts";
import { grantsMigration } from "./schema-grants.ts";
import { taintsMigration } from "./schema-taints.ts";

/** `PRAGMA application_id` of a journal: "cgjl". Tells our file from another program's database. */
export const applicationId = 0x63676a6c;

/**
 * The schema, one migration a step, applied in order; `PRAGMA user_version` counts those applied. Never edit one that
 * was released: add the next, and keep what it writes (run/fixtures/make-snapshot.ts).
 *
 * Every row names its tenant, and what is of a user that user. `runs.owner`, `epoch` and `lease_until_ms` say who drives a run: every write is
 * fenced on `epoch`, which each claim raises. `entries` is append-only; what is clear in
 * an entry is in `sealed`, under the run's key (`runs.wrapped`).
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
  -- counted when the run ends
  call_count integer,
  owner text references owners (owner_id),
  epoch integer not null default 0,
  lease_until_ms integer,
  -- program text, and the error it ended with: the texts of the run that are not an entry's
  program_sealed blob,
  error_sealed blob
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
  entry_id integer primary key,
  run_id text not null references runs (run_id) on delete cascade,
  position integer not null,
  tenant text not null,
  user_id text not null,
  kind text not null,
  at_ms integer not null,
  -- the call's issue order; of a result its number
  seq integer,
  -- JSON: the entry in its erased form
  body text not null,
  -- 1 when more than a value is sealed: console, errors, diagnostics
  texts integer not null,
  -- last, so that what comes before is read without it
  sealed blob
) strict;
create unique index entries_by_run on entries (run_id, position);
create index entries_results on entries (run_id, seq) where kind = 'result';

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
with parts as (
  -- of several decisions and late results the last one counts; SQLite takes bare columns from the row of the max
  select run_id, seq, kind, max(position) as position, tenant, user_id, at_ms, body
  from entries
  where kind in ('call-issued', 'call-decided', 'call-ended', 'call-late')
  group by run_id, seq, kind
)
select
  tenant, user_id, run_id, seq,
  max(body ->> 'callId') filter (where kind = 'call-issued') as call_id,
  max(body ->> 'tool') filter (where kind = 'call-issued') as tool,
  max(body ->> 'effect') filter (where kind = 'call-issued') as effect,
  max(body ->> 'idempotencyKey') filter (where kind = 'call-issued') as idempotency_key,
  max(at_ms) filter (where kind = 'call-issued') as issued_at_ms,
  max(body ->> 'decision') filter (where kind = 'call-decided') as decision,
  max(body ->> 'ruleId') filter (where kind = 'call-decided') as rule_id,
  max(body ->> 'answeredBy') filter (where kind = 'call-decided') as answered_by,
  max(at_ms) filter (where kind = 'call-ended') as ended_at_ms,
  max(body ->> 'outcome') filter (where kind = 'call-ended') as outcome,
  coalesce(
    max(body ->> 'effectStatus') filter (where kind = 'call-late'),
    max(body ->> 'effectStatus') filter (where kind = 'call-ended'),
    -- no end is recorded: it began unless it is a read or was not let through
    case
      when max(body ->> 'effect') filter (where kind = 'call-issued') = 'read' then 'none'
      when max(body ->> 'decision') filter (where kind = 'call-decided') in ('ask', 'deny') then 'none'
      else 'unknown'
    end
  ) as effect_status
from parts
group by run_id, seq
having max(kind = 'call-issued') = 1;
`,
  `
-- While suspended. waits: JSON in erased form; due_at_ms: when it could go on, by itself or because of a signal.
alter table runs add column waits text;
alter table runs add column waits_sealed blob;
alter table runs add column wake_at_ms integer;
alter table runs add column due_at_ms integer;
update runs set epoch = 1 where epoch = 0;
create index runs_due on runs (due_at_ms) where status = 'suspended';

create table signals (
  run_id text not null references runs (run_id) on delete cascade,
  position integer not null,
  tenant text not null,
  user_id text not null,
  kind text not null,
  -- of an event; '' for others
  name text not null,
  -- the first signal of its kind, name and key counts; null: each is one of its own
  key text,
  -- JSON: the signal in its erased form
  body text not null,
  texts integer not null,
  sealed blob,
  primary key (run_id, position)
) strict, without rowid;
create unique index signals_first on signals (run_id, kind, name, key) where key is not null;

create table effects (
  tenant text not null,
  idempotency_key text not null,
  user_id text not null,
  run_id text not null references runs (run_id) on delete cascade,
  call_id text not null,
  seq integer not null,
  args_digest text not null,
  reserved_at_ms integer not null,
  primary key (tenant, idempotency_key)
) strict, without rowid;
create index effects_by_run on effects (run_id);

drop view calls;
create view calls as
with parts as (
  -- of several of a kind the last one counts; SQLite takes bare columns from the row of the max
  select run_id, seq, kind, max(position) as position, tenant, user_id, at_ms, body
  from entries
  where kind in ('call-issued', 'call-decided', 'call-ended', 'call-late', 'call-resolved')
  group by run_id, seq, kind
)
select
  tenant, user_id, run_id, seq,
  max(body ->> 'callId') filter (where kind = 'call-issued') as call_id,
  max(body ->> 'tool') filter (where kind = 'call-issued') as tool,
  max(body ->> 'effect') filter (where kind = 'call-issued') as effect,
  max(body ->> 'idempotencyKey') filter (where kind = 'call-issued') as idempotency_key,
  max(at_ms) filter (where kind = 'call-issued') as issued_at_ms,
  max(body ->> 'decision') filter (where kind = 'call-decided') as decision,
  max(body ->> 'ruleId') filter (where kind = 'call-decided') as rule_id,
  max(body ->> 'answeredBy') filter (where kind = 'call-decided') as answered_by,
  max(at_ms) filter (where kind = 'call-ended') as ended_at_ms,
  max(body ->> 'outcome') filter (where kind = 'call-ended') as outcome,
  coalesce(
    max(body ->> 'effectStatus') filter (where kind = 'call-resolved'),
    max(body ->> 'effectStatus') filter (where kind = 'call-late'),
    max(body ->> 'effectStatus') filter (where kind = 'call-ended'),
    -- no end is recorded: it began unless it is a read or was not let through
    case
      when max(body ->> 'effect') filter (where kind = 'call-issued') = 'read' then 'none'
      when max(body ->> 'decision') filter (where kind = 'call-decided') in ('ask', 'deny') then 'none'
      else 'unknown'
    end
  ) as effect_status
from parts
group by run_id, seq
having max(kind = 'call-issued') = 1;
`,
  `
-- A transaction writes one row for all entries of a run, sealed once, and no index beside it: fewer pages (docs/decisions).
-- Rows of a run lie together: entry_id = run_no * 2^24 + position of the first entry in it.
drop view calls;
create table runs_3 (
  run_no integer primary key,
  run_id text not null unique,
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
  head text not null,
  finish text,
  -- counted when the run ends
  call_count integer,
  owner text references owners (owner_id),
  epoch integer not null default 0,
  lease_until_ms integer,
  waits text,
  wake_at_ms integer,
  due_at_ms integer,
  -- the run's key, wrapped by the master key of that id; null once the run was erased
  master_id text,
  wrapped blob,
  program_sealed blob,
  error_sealed blob,
  waits_sealed blob
) strict;
insert into runs_3
select r.rowid, r.run_id, r.tenant, r.user_id, r.agent, r.task, r.kind, r.status, r.lane, r.started_at_ms, r.ended_at_ms, r.program_digest, r.result_number, r.replay_of, r.head,
  r.finish, r.call_count, r.owner, r.epoch, r.lease_until_ms, r.waits, r.wake_at_ms, r.due_at_ms, k.master_id, k.wrapped, r.program_sealed, r.error_sealed, r.waits_sealed
from runs r left join run_keys k on k.run_id = r.run_id;

create table entries_3 (
  entry_id integer primary key,
  tenant text not null,
  user_id text not null,
  -- of the one entry in it, or 'batch'
  kind text not null,
  -- of the last entry in it
  at_ms integer not null,
  -- of one entry: the call's issue order, of a result its number
  seq integer,
  -- how many entries, and how many of them issue a call
  size integer not null,
  calls integer not null,
  -- JSON: the entry in its erased form; of a batch the list of them
  body text not null,
  -- 1 when more than a value is sealed: console, errors, diagnostics
  texts integer not null,
  -- last, so that what comes before is read without it
  sealed blob
) strict;
insert into entries_3
select r.rowid * 16777216 + e.position, e.tenant, e.user_id, e.kind, e.at_ms, e.seq, 1, e.kind = 'call-issued', e.body, e.texts, e.sealed
from entries e join runs r on r.run_id = e.run_id order by 1;

drop table entries;
drop table run_keys;
drop table runs;
alter table runs_3 rename to runs;
alter table entries_3 rename to entries;
create index runs_by_start on runs (tenant, started_at_ms desc);
create index runs_by_task on runs (tenant, task) where task is not null;
create index runs_by_end on runs (ended_at_ms) where ended_at_ms is not null;
create index runs_running on runs (owner) where status = 'running';
create index runs_due on runs (due_at_ms) where status = 'suspended';
create trigger runs_deleted after delete on runs begin
  delete from entries where entry_id between old.run_no * 16777216 and old.run_no * 16777216 + 16777215;
end;

create view calls as
with told as (
  select r.run_id, e.tenant, e.user_id, e.entry_id as position, e.body
  from entries e join runs r on r.run_no = e.entry_id / 16777216 where e.kind <> 'batch'
  union all
  select r.run_id, e.tenant, e.user_id, e.entry_id + j.key, j.value
  from entries e join runs r on r.run_no = e.entry_id / 16777216, json_each(e.body) j where e.kind = 'batch'
),
parts as (
  -- of several of a kind the last one counts; SQLite takes bare columns from the row of the max
  select run_id, body ->> 'seq' as seq, body ->> 'kind' as kind, max(position) as position, tenant, user_id, body ->> 'atMs' as at_ms, body
  from told
  where body ->> 'kind' in ('call-issued', 'call-decided', 'call-ended', 'call-late', 'call-resolved')
  group by run_id, body ->> 'seq', body ->> 'kind'
)
select
  tenant, user_id, run_id, seq,
  max(body ->> 'callId') filter (where kind = 'call-issued') as call_id,
  max(body ->> 'tool') filter (where kind = 'call-issued') as tool,
  max(body ->> 'effect') filter (where kind = 'call-issued') as effect,
  max(body ->> 'idempotencyKey') filter (where kind = 'call-issued') as idempotency_key,
  max(at_ms) filter (where kind = 'call-issued') as issued_at_ms,
  max(body ->> 'decision') filter (where kind = 'call-decided') as decision,
  max(body ->> 'ruleId') filter (where kind = 'call-decided') as rule_id,
  max(body ->> 'answeredBy') filter (where kind = 'call-decided') as answered_by,
  max(at_ms) filter (where kind = 'call-ended') as ended_at_ms,
  max(body ->> 'outcome') filter (where kind = 'call-ended') as outcome,
  coalesce(
    max(body ->> 'effectStatus') filter (where kind = 'call-resolved'),
    max(body ->> 'effectStatus') filter (where kind = 'call-late'),
    max(body ->> 'effectStatus') filter (where kind = 'call-ended'),
    -- no end is recorded: it began unless it is a read or was not let through
    case
      when max(body ->> 'effect') filter (where kind = 'call-issued') = 'read' then 'none'
      when max(body ->> 'decision') filter (where kind = 'call-decided') in ('ask', 'deny') then 'none'
      else 'unknown'
    end
  ) as effect_status
from parts
group by run_id, seq
having max(kind = 'call-issued') = 1;
`,
  `
-- 1 while a process has the ended run to undo what it did; owner and lease are then that process's
alter table runs add column undoing integer not null default 0;
create index runs_undoing on runs (owner) where undoing = 1;
-- what is open is few, and listed with every look at the questions
create index runs_open on runs (tenant, status, started_at_ms desc, run_no desc) where status in ('running', 'suspended');

-- a key outlives its run: what became of the write is then in settled, JSON without its values
create table effects_4 (
  tenant text not null,
  idempotency_key text not null,
  user_id text not null,
  run_id text not null,
  call_id text not null,
  seq integer not null,
  args_digest text not null,
  reserved_at_ms integer not null,
  settled text,
  pruned_at_ms integer,
  primary key (tenant, idempotency_key)
) strict, without rowid;
insert into effects_4 select tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest, reserved_at_ms, null, null from effects;
drop table effects;
alter table effects_4 rename to effects;
create index effects_by_run on effects (run_id);
create index effects_pruned on effects (pruned_at_ms) where pruned_at_ms is not null;
`,
  `
-- what budgets hold; window_start_ms 0: it never begins anew; run_id: the count is of one run and goes with it
create table budget_counts (
  tenant text not null,
  budget_id text not null,
  key text not null,
  window_start_ms integer not null,
  run_id text,
  calls integer not null,
  bytes integer not null,
  duration_ms integer not null,
  tokens integer not null,
  micro_usd integer not null,
  primary key (tenant, budget_id, key, window_start_ms)
) strict, without rowid;
create index budget_counts_by_run on budget_counts (run_id) where run_id is not null;

-- what calls that have not ended hold of them, an attempt a row: counted already, and so spent if nobody settles it
create table budget_reservations (
  tenant text not null,
  call_id text not null,
  number integer not null,
  run_id text not null,
  epoch integer not null,
  -- JSON: the counts it is in, and how much it is
  places text not null,
  amounts text not null,
  primary key (tenant, call_id, number)
) strict, without rowid;
create index budget_reservations_by_run on budget_reservations (run_id);
`,
  callsView,
  auditMigration,
  taintsMigration,
  `${grantsMigration}${callsViewOfGrants}`,
  callsViewOfHeldResults,
  clocksMigration,
  agentsMigration,
];
