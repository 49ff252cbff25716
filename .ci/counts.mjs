// Reads vitest's JSON report and prints "passed failed skipped". A file that could not be loaded counts as a failure.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed")).length;
console.log(report.numPassedTests, report.numFailedTests + broken, report.numPendingTests + report.numTodoTests);
