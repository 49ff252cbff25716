import { CallgateError } from "@callgate/contract";
import type { AuditHold, HoldScope } from "@callgate/contract";
import { optionalNumber, optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";

// Legal holds as rows of the table `holds`, in every database.

/** Whether hold `h` covers run `r`. */
export const holdCovers = `h.released_at_ms is null and h.tenant = r.tenant
    and (h.of_run is null or h.of_run = r.run_id) and (h.of_user is null or h.of_user = r.user_id)
    and (h.of_agent is null or h.of_agent = r.agent) and (h.of_task is null or h.of_task = r.task)
    and (h.from_ms is null or r.started_at_ms >= h.from_ms) and (h.until_ms is null or r.started_at_ms < h.until_ms)`;

export const insertHold = "(hold_id, tenant, user_id, reason, of_run, of_user, of_agent, of_task, from_ms, until_ms, placed_at_ms)";

export function holdValues({ holdId, tenant, by, reason, covers, placedAtMs }: AuditHold): (string | number | null)[] {
  const { runId, user, agent, task, fromMs, untilMs } = covers;
  return [holdId, tenant, by, reason, runId ?? null, user ?? null, agent ?? null, task ?? null, fromMs ?? null, untilMs ?? null, placedAtMs];
}

export function holdOf(row: Row): AuditHold {
  const [releasedAtMs, releasedBy] = [optionalNumber(row, "released_at_ms"), optionalText(row, "released_by")];
  return {
    holdId: textColumn(row, "hold_id"),
    tenant: textColumn(row, "tenant"),
    covers: scopeOf(row),
    reason: textColumn(row, "reason"),
    by: textColumn(row, "user_id"),
    placedAtMs: Number(row["placed_at_ms"]),
    ...(releasedAtMs === undefined ? {} : { released: { by: releasedBy ?? "", atMs: releasedAtMs } }),
  };
}

function scopeOf(row: Row): HoldScope {
  const [runId, user, agent, task] = [optionalText(row, "of_run"), optionalText(row, "of_user"), optionalText(row, "of_agent"), optionalText(row, "of_task")];
  const [fromMs, untilMs] = [optionalNumber(row, "from_ms"), optionalNumber(row, "until_ms")];
  return {
    ...(runId === undefined ? {} : { runId }),
    ...(user === undefined ? {} : { user }),
    ...(agent === undefined ? {} : { agent }),
    ...(task === undefined ? {} : { task }),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

export function heldError(runId: string, hold: AuditHold): CallgateError {
  return new CallgateError("LEGAL_HOLD", `Run ${runId} is under legal hold ${hold.holdId} (${hold.reason}), placed by ${hold.by}. Nothing was erased; release the hold first`, { details: { runId, holdId: hold.holdId } });
}

export function noHoldError(holdId: string): CallgateError {
  return new CallgateError("USAGE", `There is no legal hold ${holdId} that could be released; list them with callgate audit holds`, { details: { holdId } });
}
