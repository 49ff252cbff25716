// Door: text that others wrote, made safe to show. What shows a line needs nothing else of the gate.

export { listIssues } from "./lib/list-issues.ts";
export { visible } from "./lib/visible.ts";
export { findSecrets } from "./secrets/detectors/find-secrets.ts";
