import type { CodeBlock } from "./code-block.ts";

/** Where a block wants its code to be kept. */
export type RequestedName =
  | { readonly kind: "none" }
  /** Folders and file, none of them empty, `.` or `..`. */
  | { readonly kind: "name"; readonly segments: readonly string[] }
  | { readonly kind: "refused"; readonly message: string };

const comment = /^(?:#|\/\/)[ \t]*filename:(.*)$/i;
const maxSegmentBytes = 255;
const maxSegments = 32;

/** Reads `filename`, or the comment that says it: on the first line, or on the second under `#!`. */
export function requestedName({ filename, code }: CodeBlock): RequestedName {
  const wanted = filename ?? nameInComment(code);
  if (wanted === undefined) return { kind: "none" };
  const name = wanted.trim();
  const problem = problemOf(name);
  if (problem !== undefined) return { kind: "refused", message: `The file name ${JSON.stringify(name.slice(0, 200))} ${problem}; nothing was written or run` };
  return { kind: "name", segments: name.split("/").filter((segment) => segment !== "" && segment !== ".") };
}

function nameInComment(code: string): string | undefined {
  const [first = "", second = ""] = code.split(/\r\n|\n|\r/, 2);
  return comment.exec(first.startsWith("#!") ? second : first)?.[1];
}

function problemOf(name: string): string | undefined {
  const segments = name.split("/");
  if (name === "" || name.endsWith("/") || segments.at(-1) === ".") return "names no file";
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u001f\u007f\\]/.test(name) || !name.isWellFormed()) return "holds control characters or backslashes";
  if (name.startsWith("/") || /^[A-Za-z]:\//.test(name) || segments.includes("..")) return "is not in the workspace: it must be relative, without ..";
  if (process.platform === "win32" && /[:*?"<>|]/.test(name)) return "holds characters that Windows does not allow";
  if (segments.length > maxSegments || segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)) return "is too long";
  return undefined;
}
