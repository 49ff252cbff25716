// Orders become a report with a chart, set as a PDF and announced once. See README.md.
import { runAsCommand } from "../shared/run-as-command.ts";
import { job } from "./job.ts";

await runAsCommand(job);
