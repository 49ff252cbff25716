import { testJob } from "../shared/test-job.ts";
import { job } from "./job.ts";

testJob(job, { outcome: /2026-11-24-northwind\.md/ });
