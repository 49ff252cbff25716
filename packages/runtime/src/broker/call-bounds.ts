import type { Capabilities } from "@callgate/contract";
import { createSchemaValidator } from "../catalog/validation/schema-validator.ts";

/** Holds calls against capabilities. */
export interface CallBounds {
  /** Why a call is outside; undefined when it is not. */
  refuse(tool: string, args: unknown): { readonly ruleId: string; readonly reason: string } | undefined;
}

/** Compiled once for a run: each of its calls is held against them. */
export function createCallBounds({ id, tools }: Capabilities): CallBounds {
  const validators = new Map(Object.entries(tools).map(([name, schema]) => [name, createSchemaValidator(schema)]));
  return {
    refuse(tool, args) {
      const validator = validators.get(tool);
      if (validator === undefined) return { ruleId: id, reason: `${tool} is not among the tools that ${id} may call` };
      const found = validator.validate(args);
      if (found.kind === "ok") return undefined;
      const [issue] = found.issues;
      return { ruleId: id, reason: `The arguments of ${tool} are outside of what ${id} may give it${issue === undefined ? "" : `: ${issue.path === "" ? "they" : issue.path} ${issue.message}`}` };
    },
  };
}
