import { parse } from "unbash";
import type { ScanFinding } from "./scan-rules.ts";

/** Longer than this a script is not parsed on the event loop. */
const maxChars = 64 * 1024;
const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"]);
const fetchers: ReadonlySet<string> = new Set(["curl", "wget", "fetch"]);

type Tree = { readonly [key: string]: unknown };

/** Finds commands by their words, as the shell's grammar cuts them: comments and texts are none. */
export function scanShell(text: string): ScanFinding[] {
  if (text.length > maxChars) return [{ rule: "SCAN_INCOMPLETE", offset: 0 }];
  const findings: ScanFinding[] = [];
  const waiting: unknown[] = [parse(text)];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    const tree = node as Tree;
    if (tree["type"] === "Command") findings.push(...commandAt(tree));
    if (tree["type"] === "Pipeline") findings.push(...pipelineAt(tree));
    if (tree["type"] === "Function" && callsItself(tree)) findings.push({ rule: "SH_FORK_BOMB", offset: offsetOf(tree) });
    // The parts of a word are made when asked for.
    waiting.push(...Object.values(tree), tree["parts"], tree["script"], tree["value"]);
  }
  return findings.sort((a, b) => a.offset - b.offset);
}

function wordsOf(command: unknown): string[] {
  const { name, suffix } = (typeof command === "object" && command !== null ? command : {}) as Tree;
  const words = [name, ...(Array.isArray(suffix) ? (suffix as readonly unknown[]) : [])];
  return words.map((word) => (typeof word === "object" && word !== null && "value" in word ? String(word.value) : ""));
}

function offsetOf(tree: Tree): number {
  return typeof tree["pos"] === "number" ? tree["pos"] : 0;
}

function commandAt(command: Tree): ScanFinding[] {
  const all = wordsOf(command);
  const words = all[0] === "sudo" || all[0] === "exec" || all[0] === "command" ? all.slice(1) : all;
  const [name = "", ...given] = words;
  const offset = offsetOf(command);
  const isRecursive = given.some((word) => /^-\w*[rR]/.test(word) || word === "--recursive");
  if (/(?:^|\/)rm$/.test(name) && isRecursive && given.some((word) => /^(?:\/|\/\*|~|~\/|~\/\*|\$HOME|\$HOME\/\*?|"\$HOME")$/.test(word))) return [{ rule: "SH_RM_ROOT", offset }];
  if (/(?:^|\/)mkfs(?:\.\w+)?$/.test(name) || (name === "dd" && given.some((word) => word.startsWith("of=/dev/")))) return [{ rule: "SH_FILE_SYSTEM", offset }];
  return name === "eval" ? [{ rule: "SH_EVAL", offset }] : [];
}

function pipelineAt(pipeline: Tree): ScanFinding[] {
  const commands = Array.isArray(pipeline["commands"]) ? (pipeline["commands"] as readonly unknown[]) : [];
  const names = commands.map((command) => wordsOf(command).find((word) => word !== "sudo") ?? "");
  const from = names.findIndex((name) => fetchers.has(name));
  return from >= 0 && names.some((name, at) => at > from && shells.has(name.slice(name.lastIndexOf("/") + 1))) ? [{ rule: "SH_PIPE_TO_SHELL", offset: offsetOf(pipeline) }] : [];
}

/** `f(){ f | f & }`: its own name as a command of a pipeline in its body. */
function callsItself(definition: Tree): boolean {
  const name = wordsOf(definition)[0];
  const waiting: unknown[] = [definition["body"]];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    const tree = node as Tree;
    if (tree["type"] === "Pipeline" && Array.isArray(tree["commands"]) && (tree["commands"] as readonly unknown[]).filter((command) => wordsOf(command)[0] === name).length > 1) return true;
    waiting.push(...Object.values(tree));
  }
  return false;
}
