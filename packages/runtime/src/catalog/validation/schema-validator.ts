import type { JsonSchema, ParseIssue, ParseResult } from "@callgate/contract";
import type { ValidateFunction } from "ajv";
import { ajvFor, dialectOf } from "./ajv-for-schema.ts";
import { createIssueDescriber } from "./describe-issues.ts";
import type { IssueDescriber } from "./describe-issues.ts";
import { normalizeDialect } from "../schema/normalize-dialect.ts";
import { numbersForBigInts } from "./numbers-for-bigints.ts";

/** Issues past this many are counted, not listed. */
const maxIssues = 20;

export interface SchemaValidator {
  /** Checks a value; paths are JSON Pointers. Never changes the value, never throws. */
  readonly validate: (value: unknown) => ParseResult;
}

/**
 * A validator for one schema of any dialect, compiled at its first use.
 *
 * A schema that turns out to be unusable then (or sends the validator in circles) makes every value invalid, with an
 * issue that says it is the schema's fault.
 */
export function createSchemaValidator(schema: JsonSchema): SchemaValidator {
  let check: ValidateFunction | undefined;
  let describer: IssueDescriber | undefined;
  const compile = (): ValidateFunction => ajvFor(dialectOf(schema)).compile(normalizeDialect(schema));
  const validate = (value: unknown): ParseResult => {
    try {
      check ??= compile();
      if (check(value) === true) return { kind: "ok", value };
      const inNumbers = numbersForBigInts(value);
      if (inNumbers !== value && check(inNumbers) === true) return { kind: "ok", value };
      describer ??= createIssueDescriber(normalizeDialect(schema), dialectOf(schema));
      const issues = describer.describe(inNumbers);
      return { kind: "invalid", issues: issues.length > 0 ? bounded(issues) : [{ path: "", message: "does not match the schema" }] };
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
