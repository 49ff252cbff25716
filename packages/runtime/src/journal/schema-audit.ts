/** The migration with which the record is chained (schema.ts). */
export const auditMigration = `
-- The record is chained: every row has a stamp over itself and the one before it, the run a seal over its last stamp and
-- its end. What an erase drops is kept as its digest. Of runs from before, seal and stamps are null.
alter table runs add column next_position integer not null default 0;
update runs set next_position = coalesce((select entry_id + size from entries
  where entry_id between run_no * 16777216 and run_no * 16777216 + 16777215 order by entry_id desc limit 1) - run_no * 16777216, 0);
alter table runs add column chained_from integer;
alter table runs add column stamp blob;
alter table runs add column seal blob;
alter table runs add column program_sealed_digest text;
alter table runs add column error_sealed_digest text;
alter table entries add column stamp blob;
alter table entries add column sealed_digest text;
alter table signals add column sealed_digest text;

create table ledger (
  position integer primary key,
  tenant text not null,
  at_ms integer not null,
  -- JSON: list of events
  body text not null,
  stamp blob not null,
  -- of the last line only: says that it is
  tail blob
) strict;

create table holds (
  hold_id text primary key,
  tenant text not null,
  user_id text not null,
  reason text not null,
  -- what it covers: runs for which all that is not null holds
  of_run text,
  of_user text,
  of_agent text,
  of_task text,
  from_ms integer,
  until_ms integer,
  placed_at_ms integer not null,
  released_at_ms integer,
  released_by text
) strict;
`;
