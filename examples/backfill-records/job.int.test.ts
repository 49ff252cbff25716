import { testJob } from "../shared/test-job.ts";
import { job } from "./job.ts";

testJob(job, { outcome: /"seen": ?2000/ });
