import { jobEnvironment } from "../shared/job-environment.ts";
import { job } from "./job.ts";

/** The world of this job, anew for each attempt of suite.yaml. */
export const environment = jobEnvironment(job);
