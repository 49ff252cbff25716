// What is printed into documents, and from what. One printer a part; checks/docs.mjs compares and writes.
import { lintRules } from "../packages/callgate/src/lint/lint-rules.ts";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callErrorCodes, callgateErrorCodes, defaultLimits } from "@callgate/contract";
import ts from "typescript";
import { z } from "zod";
import { configSchema } from "../packages/callgate/src/config/config-schema.ts";
import { suiteSchema } from "../packages/eval/src/suite/suite-schema.ts";
import { buildProgram } from "../packages/callgate/src/cli/build-program.ts";
import { metricDefinitions } from "../packages/runtime/src/telemetry/metric-definitions.ts";
import { modules } from "./module-map.mjs";
import { publicDefects } from "./public-defects.mjs";
import { hostileGuests, hostileOutput, hostilePrograms } from "./security-table.mjs";

const row = (...cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(...head), row(...head.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");
const cell = (text) => text.replace(/\s+/g, " ").replaceAll("|", "\\|");

const moduleTable = () =>
  table(
    ["module", "does", "may import"],
    Object.entries(modules).map(([name, { does, imports }]) => [`\`${name}\``, does, imports.length === 0 ? "nothing" : imports.map((other) => other.replace("runtime/", "")).join(", ")]),
  );
const codeTable = (codes) => table(["code", "meaning"], Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]));
const limitTable = () => table(["limit", "default"], Object.entries(defaultLimits).map(([name, value]) => [`\`${name}\``, value.toLocaleString("en-US")]));

/** Members of the union `GateEvent`, read from its own source. */
function eventTable() {
  const file = ts.createSourceFile("gate-event.ts", readFileSync("packages/contract/src/gate-event.ts", "utf8"), ts.ScriptTarget.Latest, true);
  const union = file.statements.find((statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === "GateEvent").type;
  return table(
    ["kind", "beside what all of its scope have"],
    union.types.map((member) => {
      const inner = ts.isParenthesizedTypeNode(member) ? member.type : member;
      const parts = ts.isIntersectionTypeNode(inner) ? inner.types : [inner];
      const fields = parts.filter(ts.isTypeLiteralNode).flatMap((literal) => [...literal.members]);
      const kind = fields.find((field) => field.name.text === "kind").type.literal.text;
      const scope = parts.filter(ts.isTypeReferenceNode).map((reference) => reference.typeName.text);
      const own = fields.filter((field) => field.name.text !== "kind").map((field) => `\`${field.name.text}${field.questionToken ? "?" : ""}: ${cell(field.type.getText(file))}\``);
      return [`\`${kind}\`${scope.length === 0 ? "" : ` (${scope.join(", ")})`}`, own.join(", ")];
    }),
  );
}

const jsonSchema = () => JSON.stringify(z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }), undefined, 2);

/** Keys of what a schema describes, each with those below it. */
function keyTable(schema) {
  const describe = (properties, prefix) =>
    Object.entries(properties).flatMap(([name, schema]) => {
      const type = schema.enum?.map((value) => JSON.stringify(value)).join(" · ") ?? schema.type ?? schema.anyOf?.map((one) => one.type ?? JSON.stringify(one.const)).join(" · ") ?? "any";
      // The long form of what a word alone can say.
      const own = schema.properties ?? schema.anyOf?.find((one) => one.properties !== undefined)?.properties;
      const inner = own ?? schema.additionalProperties?.properties;
      const below = inner === undefined ? [] : describe(inner, `${prefix}${name}${own === undefined ? ".<name>" : ""}.`);
      const items = schema.type === "array" && schema.items?.properties !== undefined ? describe(schema.items.properties, `${prefix}${name}[].`) : [];
      return [[`\`${prefix}${name}\``, cell(type), cell(schema.description ?? "")], ...below, ...items];
    });
  return table(["key", "type", "meaning"], describe(schema.properties, ""));
}

const configTable = () => keyTable(JSON.parse(jsonSchema()));
const suiteTable = () => keyTable(JSON.parse(JSON.stringify(z.toJSONSchema(suiteSchema, { io: "input", unrepresentable: "any" }))));

/** Help of every command and subcommand that help shows. Asked of the command line itself, so that none can be forgotten. */
function cliHelp() {
  const program = buildProgram(() => Promise.resolve());
  const helpText = (command) => {
    let text = "";
    command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80, getOutHasColors: () => false }).outputHelp();
    return ["```", text.trimEnd(), "```"].join("\n");
  };
  const sections = (parent, words) =>
    parent.createHelp().visibleCommands(parent).filter((command) => command.name() !== "help").flatMap((command) => {
      const named = [...words, command.name()];
      if (command.description() === "") throw new Error(`${named.join(" ")} has no description`);
      for (const argument of command.registeredArguments) if (argument.description === "") throw new Error(`${named.join(" ")}: its argument ${argument.name()} has no description`);
      return [`## ${named.join(" ")}`, helpText(command), ...sections(command, named)];
    });
  return [helpText(program), ...sections(program, ["callgate"])].join("\n\n");
}

/** The README's program, from the file that is run, and what it really prints. */
const twentyLines = "examples/twenty-lines/twenty-lines.ts";
const program = () => ["```ts", readFileSync(twentyLines, "utf8").trimEnd(), "```"].join("\n");
function programOutput() {
  const state = mkdtempSync(join(tmpdir(), "callgate-docs-"));
  const output = execFileSync(process.execPath, [twentyLines], { encoding: "utf8", env: { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: state } });
  rmSync(state, { recursive: true });
  return ["```", output.replaceAll(/result:\/\/\w+/g, "result://run_…").trimEnd(), "```"].join("\n");
}

function metricTable() {
  const rows = Object.entries(metricDefinitions).map(([name, { kind, labels, help }]) => [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(", "), cell(help)]);
  return table(["metric", "kind", "labels", "what it is"], rows);
}

/** `name: "whole file"` means that all of the file is printed. */
/** Every rule of `callgate lint`. */
function lintTable() {
  return ["| rule | finds | level | what to do |", "| --- | --- | --- | --- |", ...lintRules.map(({ id, finds, level, advice }) => `| \`${id}\` | ${finds} | ${level} | ${advice} |`)].join("\n");
}

export const printers = [
  { file: "README.md", name: "twenty lines", print: program },
  { file: "README.md", name: "its output", print: programOutput },
  { file: "ARCHITECTURE.md", name: "modules", print: moduleTable },
  { file: "docs/reference/errors.md", name: "call errors", print: () => codeTable(callErrorCodes) },
  { file: "docs/reference/errors.md", name: "thrown errors", print: () => codeTable(callgateErrorCodes) },
  { file: "docs/security.md", name: "hostile programs", print: hostilePrograms },
  { file: "docs/security.md", name: "hostile guests", print: hostileGuests },
  { file: "docs/security.md", name: "hostile output", print: hostileOutput },
  { file: "docs/public-defects.md", name: "defects", print: publicDefects },
  { file: "docs/reference/limits.md", name: "limits", print: limitTable },
  { file: "docs/reference/events.md", name: "events", print: eventTable },
  { file: "docs/guide/monitoring.md", name: "metrics", print: metricTable },
  { file: "docs/reference/lint.md", name: "rules", print: lintTable },
  { file: "docs/reference/config.md", name: "keys", print: configTable },
  { file: "docs/reference/eval.md", name: "keys", print: suiteTable },
  { file: "docs/reference/cli.md", name: "help", print: cliHelp },
  { file: "packages/callgate/callgate.schema.json", name: "whole file", print: jsonSchema },
];
