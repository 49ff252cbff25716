// Door: which addresses may be connected to. One judgement for programs in sandboxes and for requests of sources.

export { createAddressGuard } from "./address-guard.ts";
export type { AddressGuard, DeniedRange } from "./address-guard.ts";
export { judgeTarget } from "./judge-target.ts";
export type { Resolve, TargetVerdict } from "./judge-target.ts";
export { parseTarget, writeTarget } from "./target.ts";
export type { Target } from "./target.ts";
