import type { JsonSchema, ParseIssue } from "@callgate/contract";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { nearestNames } from "../../lib/nearest-names.ts";
import { escapePointer } from "../../lib/json-pointer.ts";
import { isRecord, itemsOf, own, subschemas } from "../schema/json-schema.ts";
import { ajvFor } from "./ajv-for-schema.ts";
import type { AjvSetup } from "./ajv-for-schema.ts";
import { countNodes } from "./step-budget.ts";
import { expectedOf, got, nameList, valueList } from "./issue-words.ts";

/** Values of more nodes than this get their first issue only: collecting all would cost what the value costs. */
const maxNodesForAllIssues = 20_000;

/** Unions inside unions are explained this deep, and this many branches are asked in all. */
const maxUnionDepth = 6;
const maxAttempts = 500;

/** Says what is wrong with a value that a schema refused, made for repair: place, what was expected, what was there, nearest names. */
export interface IssueDescriber {
  describe(value: unknown): readonly ParseIssue[];
}

interface Explanation {
  readonly ajv: Ajv;
  /** Where each list of branches stands in the schema. Ajv's own `schemaPath` starts anew at every reference. */
  readonly places: ReadonlyMap<unknown, string>;
  /** Validators of single branches, by their place. */
  readonly branches: Map<string, ValidateFunction | undefined>;
  /** Branches that may still be asked for this value; nested unions would otherwise multiply. */
  attemptsLeft: number;
}

/** Key under which the whole schema is known, so that one branch of a union can be asked alone. */
const rootKey = "callgate:root";

export function createIssueDescriber(schema: JsonSchema, setup: AjvSetup): IssueDescriber {
  const explanations = new Map<boolean, { explanation: Explanation; check: ValidateFunction }>();
  const open = (allErrors: boolean) => {
    const known = explanations.get(allErrors);
    if (known !== undefined) return known;
    const ajv = ajvFor({ ...setup, options: { allErrors, verbose: true } });
    ajv.addSchema(schema, rootKey);
    const check = ajv.getSchema(rootKey) ?? ajv.compile(schema);
    const opened = { explanation: { ajv, places: unionPlaces(schema), branches: new Map<string, ValidateFunction | undefined>(), attemptsLeft: 0 }, check };
    explanations.set(allErrors, opened);
    return opened;
  };
  return {
    describe(value) {
      const { explanation, check } = open(countNodes(value, maxNodesForAllIssues) <= maxNodesForAllIssues);
      check(value);
      explanation.attemptsLeft = maxAttempts;
      return describeErrors(check.errors ?? [], explanation, 0);
    },
  };
}

/** One issue per place and fault. The errors of a union's branches are replaced by those of the branch that was meant. */
function describeErrors(errors: readonly ErrorObject[], explanation: Explanation, depth: number): ParseIssue[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  // A branch's errors come right before the union's own, at its place or below it.
  const covered = new Set<ErrorObject>();
  for (const union of unions) {
    for (let index = errors.indexOf(union) - 1; index >= 0; index--) {
      const error = errors[index];
      if (error === undefined || !(error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`))) break;
      if (isBeside(error, union)) break;
      covered.add(error);
    }
  }
  const issues = errors.filter((error) => !covered.has(error)).flatMap((error) => (unions.includes(error) ? describeUnion(error, explanation, depth) : describeError(error)));
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}

/** True for an error of a sibling keyword of the union, not of one of its branches. */
function isBeside(error: ErrorObject, union: ErrorObject): boolean {
  return error.parentSchema === union.parentSchema;
}

function describeUnion(error: ErrorObject, explanation: Explanation, depth: number): ParseIssue[] {
  const branches = itemsOf(error.schema);
  if (error.keyword === "oneOf" && Array.isArray((error.params as { passingSchemas?: unknown }).passingSchemas)) {
    return [{ path: error.instancePath, message: `matches more than one of ${branches.length} alternatives that exclude each other; leave out what belongs to the others` }];
  }
  const attempts = depth >= maxUnionDepth ? [] : branches.flatMap((branch, index) => attempt(branch, index, { error, explanation, depth }));
  const [best, second] = attempts.sort((a, b) => a.distance - b.distance);
  if (best !== undefined && (second === undefined || best.distance < second.distance || JSON.stringify(best.issues) === JSON.stringify(second.issues))) {
    return best.issues.map((issue) => ({ path: error.instancePath + issue.path, message: issue.message }));
  }
  return [{ path: error.instancePath, message: `expected ${expectedOf({ anyOf: branches })}, got ${got(error.data)}` }];
}

/** A value of another JSON type, or with another tag, is farther from a branch than any number of wrong fields. */
const typeDistance = 1_000;

interface Attempt {
  readonly distance: number;
  readonly issues: readonly ParseIssue[];
}

/** Asks one branch alone how far the value is from it. */
function attempt(branch: unknown, index: number, { error, explanation, depth }: { error: ErrorObject; explanation: Explanation; depth: number }): Attempt[] {
  if (!isRecord(branch) || explanation.attemptsLeft <= 0) return [];
  explanation.attemptsLeft -= 1;
  const list = explanation.places.get(error.schema);
  const check = list === undefined ? undefined : branchValidator(`${list}/${index}`, explanation);
  if (check === undefined || check(error.data) === true) return [];
  const errors = check.errors ?? [];
  const issues = describeErrors(errors, explanation, depth + 1);
  const offType = errors.some(({ keyword, instancePath }) => instancePath === "" && keyword === "type");
  const offTag = errors.filter(({ keyword, instancePath }) => instancePath.lastIndexOf("/") === 0 && (keyword === "const" || (keyword === "enum" && depth === 0))).length;
  return [{ distance: (offType ? typeDistance * 2 : 0) + offTag * typeDistance + issues.length, issues }];
}

function branchValidator(place: string, { ajv, branches }: Explanation): ValidateFunction | undefined {
  if (!branches.has(place)) {
    try {
      branches.set(place, ajv.compile({ $ref: `${rootKey}#${place}` }));
    } catch {
      branches.set(place, undefined);
    }
  }
  return branches.get(place);
}

/** URI fragments of all `anyOf` and `oneOf` lists. */
function unionPlaces(root: JsonSchema): Map<unknown, string> {
  const places = new Map<unknown, string>();
  const open: { schema: unknown; place: string }[] = [{ schema: root, place: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema, place } = next;
    if (!isRecord(schema)) continue;
    for (const keyword of ["anyOf", "oneOf"]) places.set(own(schema, keyword), `${place}/${keyword}`);
    for (const sub of subschemas(schema)) {
      open.push({ schema: sub.schema, place: place + sub.path.map((key) => `/${encodeURIComponent(escapePointer(key).toWellFormed())}`).join("") });
    }
  }
  return places;
}

/** One error of Ajv (with `verbose`) in words. Empty for those that only say that another one happened. */
export function describeError(error: ErrorObject): ParseIssue[] {
  const { keyword, instancePath: path, data, params, parentSchema, schema } = error;
  switch (keyword) {
    case "type":
      return [{ path, message: `expected ${expectedOf(parentSchema)}, got ${got(data)}` }];
    case "required":
      return [{ path, message: missingProperty(String((params as { missingProperty: unknown }).missingProperty), parentSchema, data) }];
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String((params as { additionalProperty?: unknown; unevaluatedProperty?: unknown }).additionalProperty ?? (params as { unevaluatedProperty?: unknown }).unevaluatedProperty);
      return [{ path: `${path}/${escapePointer(name)}`, message: unknownProperty(name, parentSchema, data) }];
    }
    case "enum":
      return [{ path, message: `expected one of ${valueList(schema)}, got ${got(data)}${nearestValue(schema, data)}` }];
    case "const":
      return [{ path, message: `expected ${JSON.stringify(schema)}, got ${got(data)}` }];
    case "if":
    case "$ref":
      return [];
    case "false schema":
      return [{ path, message: "must not be there" }];
    default:
      return [{ path, message: `${constraint(keyword, schema)}, got ${got(data)}` }];
  }
}

/** Says as well when the value has a property of nearly that name which the schema does not know. */
function missingProperty(name: string, parent: unknown, data: unknown): string {
  const properties = isRecord(parent) ? own(parent, "properties") : undefined;
  const known = isRecord(properties) ? properties : {};
  const declared = own(known, name);
  const strangers = isRecord(data) ? Object.keys(data).filter((key) => !Object.hasOwn(known, key)) : [];
  const [meant] = nearestNames(name, strangers, 1);
  const hint = meant === undefined ? "" : `; ${JSON.stringify(meant)} is there instead, which is not declared`;
  return `missing property ${JSON.stringify(name)}${declared === undefined ? "" : ` (${expectedOf(declared)})`}${hint}`;
}

function unknownProperty(name: string, parent: unknown, data: unknown): string {
  const properties = isRecord(parent) ? own(parent, "properties") : undefined;
  const known = isRecord(properties) ? Object.keys(properties) : [];
  const absent = known.filter((candidate) => !(isRecord(data) && Object.hasOwn(data, candidate)));
  const [nearest] = nearestNames(name, absent.length > 0 ? absent : known, 1);
  const hint = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
  const declared = known.length === 0 ? "none is declared" : `declared: ${nameList(known)}`;
  return `unknown property ${JSON.stringify(name)}${hint === "" ? "; " : `${hint} `}${hint === "" ? declared : declared.replace(/^d/, "D")}`;
}

function nearestValue(values: unknown, data: unknown): string {
  if (typeof data !== "string") return "";
  const [nearest] = nearestNames(data, itemsOf(values).filter((value) => typeof value === "string"), 1);
  return nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
}

function constraint(keyword: string, schema: unknown): string {
  const value = JSON.stringify(schema) ?? "";
  switch (keyword) {
    case "minimum":
      return `must be at least ${value}`;
    case "maximum":
      return `must be at most ${value}`;
    case "exclusiveMinimum":
      return `must be more than ${value}`;
    case "exclusiveMaximum":
      return `must be less than ${value}`;
    case "multipleOf":
      return `must be a multiple of ${value}`;
    case "minLength":
      return `must have at least ${value} characters`;
    case "maxLength":
      return `must have at most ${value} characters`;
    case "minItems":
      return `must have at least ${value} items`;
    case "maxItems":
      return `must have at most ${value} items`;
    case "minProperties":
      return `must have at least ${value} properties`;
    case "maxProperties":
      return `must have at most ${value} properties`;
    case "pattern":
      return `must match the pattern ${value}`;
    case "format":
      return `must be a valid ${value.replace(/"/g, "")}`;
    case "uniqueItems":
      return "must not hold an item twice";
    case "not":
      return "must not match what `not` describes";
    case "contains":
      return "must hold an item of the described kind";
    case "propertyNames":
      return "has a property whose name is not allowed";
    case "dependentRequired":
    case "dependencies":
      return "a property that must come with another is missing";
    default:
      return `does not meet ${keyword}`;
  }
}
