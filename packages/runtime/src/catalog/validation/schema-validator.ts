import type { JsonSchema, ParseIssue, ParseResult } from "@callgate/contract";
import type { ValidateFunction } from "ajv";
import { ajvFor, setupFor } from "./ajv-for-schema.ts";
import type { AjvSetup } from "./ajv-for-schema.ts";
import { createIssueDescriber } from "./describe-issues.ts";
import type { IssueDescriber } from "./describe-issues.ts";
import { normalizeDialect } from "../schema/normalize-dialect.ts";
import { numbersForBigInts } from "./numbers-for-bigints.ts";
import { countSteps, createStepBudget } from "./step-budget.ts";

/** Issues past this many are counted, not listed. */
const maxIssues = 20;

export interface SchemaValidator {
  /** Checks a value; paths are JSON Pointers. Never changes the value, never throws. */
  readonly validate: (value: unknown) => ParseResult;
}

/**
 * A validator for one schema of any dialect, compiled at its first use.
 *
 * A schema that turns out to be unusable then (sends the validator in circles, multiplies its choices without end) makes
 * the value invalid, with an issue that says it is the schema's fault.
 */
export function createSchemaValidator(schema: JsonSchema): SchemaValidator {
  const budget = createStepBudget();
  let known: AjvSetup | undefined;
  const setup = (): AjvSetup => (known ??= { ...setupFor(schema), budget });
  const normal = (): JsonSchema => countSteps(normalizeDialect(schema));
  let check: ValidateFunction | undefined;
  let describer: IssueDescriber | undefined;
  const accepts = (value: unknown): boolean => {
    check ??= ajvFor(setup()).compile(normal());
    budget.start(value, "check");
    return check(value) === true;
  };
  const explain = (value: unknown): readonly ParseIssue[] => {
    describer ??= createIssueDescriber(normal(), setup());
    budget.start(value, "explain");
    try {
      return bounded(describer.describe(value));
    } catch {
      // Too much to explain; that it is refused is certain.
      return [];
    }
  };
  const validate = (value: unknown): ParseResult => {
    try {
      if (accepts(value)) return { kind: "ok", value };
      const inNumbers = numbersForBigInts(value);
      if (inNumbers !== value && accepts(inNumbers)) return { kind: "ok", value };
      const issues = explain(inNumbers);
      return { kind: "invalid", issues: issues.length > 0 ? issues : [{ path: "", message: "does not match the schema" }] };
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      return { kind: "invalid", issues: [{ path: "", message: `the tool's own schema cannot be used: ${reason}` }] };
    }
  };
  return { validate };
}

function bounded(issues: readonly ParseIssue[]): readonly ParseIssue[] {
  if (issues.length <= maxIssues) return issues;
  return [...issues.slice(0, maxIssues), { path: "", message: `and ${issues.length - maxIssues} more issues` }];
}
