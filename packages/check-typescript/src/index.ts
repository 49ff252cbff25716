export { createTypeScriptChecker } from "./typescript-checker.ts";
export type { TypeScriptCheckerOptions } from "./typescript-checker.ts";
