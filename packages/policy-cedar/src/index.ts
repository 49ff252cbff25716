// Door: a policy of rules and Cedar files. Loading it loads Cedar.

export { createCedarPolicy } from "./cedar-policy.ts";
export type { CedarPolicyOptions } from "./cedar-policy.ts";
export type { PolicyFile } from "./policies/read-policy-files.ts";
export type { PolicyRule } from "./rules/rule-shape.ts";
