// A day of logs, metrics and changes ends in one ticket. See README.md; --full writes 200 MB of logs first.
import { runAsCommand } from "../shared/run-as-command.ts";
import { job } from "./job.ts";

await runAsCommand(job);
