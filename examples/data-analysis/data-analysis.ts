// A tool gives prices, generated Python works out averages, draws them and writes a report. See README.md.
import { runAsCommand } from "../shared/run-as-command.ts";
import { job } from "./job.ts";

await runAsCommand(job);
