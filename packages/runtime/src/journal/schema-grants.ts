/** The migration with which standing grants are kept (schema.ts). */
export const grantsMigration = `
-- body: JSON, the grant as it was signed. What counts of it is read from there, never from the columns beside it.
create table grants (
  grant_id text primary key,
  tenant text not null,
  user_id text not null,
  body text not null,
  given_at_ms integer not null,
  expires_at_ms integer not null,
  revoked_at_ms integer,
  revoked_by text
) strict;
create index grants_by_tenant on grants (tenant, given_at_ms desc);

-- a row is one use; they outlive the runs of their calls, so that a use is never given back
create table grant_uses (
  grant_id text not null,
  call_id text not null,
  tenant text not null,
  at_ms integer not null,
  primary key (grant_id, call_id)
) strict, without rowid;
`;
