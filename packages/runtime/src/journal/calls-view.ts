/**
 * The view `calls` of the SQLite file, one row a call, as a migration. Says what `callSummaries` says: of all that was
 * recorded of a call's effect the last entry counts.
 */
export const callsView = viewOf({ more: "", effects: "'call-ended', 'call-late', 'call-resolved'" });

/** The same with the standing grant that let a call through. */
export const callsViewOfGrants = viewOf({ more: grantColumn(), effects: "'call-ended', 'call-late', 'call-resolved'" });

/** The same with what is known of a call whose result waits for a person. */
export const callsViewOfHeldResults = viewOf({ more: grantColumn(), effects: "'result-held', 'call-ended', 'call-late', 'call-resolved'" });

function grantColumn(): string {
  return "max(body ->> 'grantId') filter (where kind = 'call-decided') as grant_id,";
}

/** @param effects the kinds of entries that tell an effect */
function viewOf({ more, effects }: { readonly more: string; readonly effects: string }): string {
  return `
drop view calls;
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
  where body ->> 'kind' in ('call-issued', 'call-decided', ${effects})
  group by run_id, body ->> 'seq', body ->> 'kind'
),
effects_told as (
  select run_id, seq, max(position) as position, body ->> 'effectStatus' as effect_status
  from parts where kind in (${effects}) group by run_id, seq
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
  ${more}
  max(at_ms) filter (where kind = 'call-ended') as ended_at_ms,
  max(body ->> 'outcome') filter (where kind = 'call-ended') as outcome,
  coalesce(
    max(effect_status),
    -- no end is recorded: it began unless it is a read or was not let through
    case
      when max(body ->> 'effect') filter (where kind = 'call-issued') = 'read' then 'none'
      when max(body ->> 'decision') filter (where kind = 'call-decided') in ('ask', 'deny') then 'none'
      else 'unknown'
    end
  ) as effect_status
from parts left join effects_told using (run_id, seq)
group by run_id, seq
having max(kind = 'call-issued') = 1;
`;
}
