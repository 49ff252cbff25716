// Documents, a customer database and a ticket system are brought into line by one program. See README.md.
import { runAsCommand } from "../shared/run-as-command.ts";
import { job } from "./job.ts";

await runAsCommand(job);
