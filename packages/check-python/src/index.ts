export { createPythonChecker } from "./python-checker.ts";
export type { PythonCheckerOptions } from "./python-checker.ts";
