// Product texts are written, held against rules, reviewed by a second agent and published. See README.md.
import { runAsCommand } from "../shared/run-as-command.ts";
import { job } from "./job.ts";

await runAsCommand(job);
