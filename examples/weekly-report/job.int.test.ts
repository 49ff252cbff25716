import { testJob } from "../shared/test-job.ts";
import { job } from "./job.ts";

testJob(job, { outcome: /week-48\.pdf/ });
