import { testJob } from "../shared/test-job.ts";
import { job } from "./job.ts";

testJob(job, { outcome: /LM-05[^]*held back/ });
