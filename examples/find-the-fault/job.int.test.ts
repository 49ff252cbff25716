import { testJob } from "../shared/test-job.ts";
import { job } from "./job.ts";

testJob(job, { outcome: /pool_size 50 -> 5/ });
