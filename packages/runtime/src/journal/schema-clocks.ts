/** The migration with which leases stand in the time of a machine that nobody can set (schema.ts). */
export const clocksMigration = `
-- beside the wall time: the monotonic time of the machine of the owner, which processes of one machine share. Null where
-- an older version wrote it
alter table owners add column heartbeat_monotonic_ms real;
alter table runs add column lease_until_monotonic_ms real;
`;
