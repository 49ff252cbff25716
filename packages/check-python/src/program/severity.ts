import type { PyrightFinding } from "../server/language-server.ts";

/** What fails at run time wherever it is executed. */
const certain: ReadonlySet<string> = new Set(["reportUndefinedVariable", "reportUnboundVariable", "reportCallIssue", "reportUnusedCoroutine", "reportUnhashable", "reportAbstractUsage", "reportNoReturnInFunction"]);

/** What may work: values that may be there, and types of libraries that are stricter than the libraries. */
const doubtful: ReadonlySet<string> = new Set([
  ..."reportArgumentType reportAssignmentType reportAttributeAccessIssue reportGeneralTypeIssues reportIndexIssue reportOperatorIssue reportReturnType reportTypedDictNotRequiredAccess".split(" "),
  ..."reportOptionalMemberAccess reportOptionalSubscript reportOptionalIterable reportOptionalCall reportOptionalOperand reportOptionalContextManager reportPossiblyUnbound reportPossiblyUnboundVariable reportInvalidStringEscapeSequence reportFunctionMemberAccess".split(" "),
]);

/** Whether the finding is about a call of a tool or about what a tool gave: there the declarations are the law. */
export interface Subject {
  readonly isToolCall: boolean;
  readonly isModule: boolean;
}

/** Whether a finding of pyright refuses a program, warns, or says nothing (undefined), for reasons in docs/decisions. */
export function severityOf({ code, message }: PyrightFinding, subject: Subject): "error" | "warning" | undefined {
  if (code === undefined) return "error";
  const rule = String(code);
  if (message.includes("CoroutineType[")) return "error";
  // Pages of tools.aio without async, or of a tool with it.
  if (/"(?:Async)?Iterator\[.*\]" is not iterable/.test(message)) return "error";
  if (certain.has(rule)) return "error";
  if (!doubtful.has(rule)) return undefined;
  if (rule === "reportArgumentType" && subject.isToolCall) return isWidened(message) ? "warning" : "error";
  if (rule === "reportAttributeAccessIssue") return subject.isModule || /Cannot access attribute "\w+" for class "(?!object"|type\[)/.test(message) || /is unknown import symbol|is not a known attribute of module/.test(message) ? "error" : "warning";
  return /is not a defined key in/.test(message) ? "error" : "warning";
}

/**
 * A text whose type was widened on the way may well be one of the words, a number of JSON may well be whole, and a value
 * that may be None may well be there: the tool's schema, or the function, judges it.
 */
function isWidened(message: string): boolean {
  const [given = ""] = /^Argument of type "(.*?)" cannot/.exec(message)?.slice(1) ?? [];
  if (given === "float" && message.includes('"float" is not assignable to "int"')) return true;
  return (/^(?:str|int|float)$/.test(given) && /is not assignable to type "Literal\[/.test(message)) || (given.includes("None") && given !== "None");
}
