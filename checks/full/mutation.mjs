// Changes the code that decides, one small thing at a time, and sees whether a unit test notices. What no test notices is a
// survivor: it gets a test, or stands in `explained` with the reason why it changes nothing. Prints a table by file and what
// survived, and writes both to docs/results/mutation.md with --write. Exit code 1 where something survived without a reason.
//
//   nice -n 10 node checks/full/mutation.mjs [FILE...] [--write] [--section NAME]
//
// Without files: what decides about a call, asks a person, judges answers and grants, and the policies that are not Cedar's.
// A change of Cedar's (packages/policy-cedar) is tried when it is named. The first time takes hours; what has not changed
// since is not tried again (.staging/mutation.json). Changes of what runs once, when a file is loaded, are left out: every
// test would have to run against each.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const runtime = "packages/runtime/src";
const decisive = [
  ...["approve", "authorise", "decide", "judge", "release", "standing-grant"].map((name) => `${runtime}/broker/${name}.ts`),
  ...["approval", "policy"].flatMap((folder) => [`${runtime}/${folder}/*.ts`, `!${runtime}/${folder}/*.test.ts`]),
];

/** Survivors that change nothing anybody could see, by file: what stood there, what it became, and why that is the same. */
const explained = {
  [`${runtime}/approval/answer-judge.ts`]: [
    { was: 'word.result.kind === "value"', becomes: "true", why: "an error has no value" },
    { was: 'name.normalize("NFKC").trim().toLowerCase()', becomes: 'name.normalize("NFKC").trim().toUpperCase()', why: "names are compared in one case, whichever" },
  ],
  [`${runtime}/approval/approvals.ts`]: [
    { was: "rules.maxPerMinute === undefined", becomes: "false", why: "what is undefined is the default" },
    { was: "kept === undefined", becomes: "false", why: "nothing is kept either way" },
  ],
  [`${runtime}/approval/grant-scope.ts`]: [
    { was: 'typeof glob === "string"', becomes: "false", why: "what is no pattern matches no tool" },
    { was: '"string"', becomes: '""', why: "the same" },
  ],
  [`${runtime}/broker/approve.ts`]: [
    { was: '"sha256:gone"', becomes: '""', why: "no tool has either digest" },
    ...['performed.outcome.kind === "ok"|false', '"ok"|""', '""|"Stryker was here!"'].map((change) => ({ was: change.split("|")[0], becomes: change.split("|")[1], why: "arguments that do not hold never end a call well" })),
    { was: "performed === call", becomes: "false", why: "it was asked about the same call a line before" },
  ],
  [`${runtime}/broker/decide.ts`]: [{ was: 'final.kind === "allow"', becomes: "true", why: "what asks or denies has no `unobserved`" }],
  [`${runtime}/broker/judge.ts`]: [{ was: "{ clock: options.clock }", becomes: "{}", why: "without a time limit no clock is looked at" }],
  [`${runtime}/broker/standing-grant.ts`]: [
    { was: "kept.length === 0", becomes: "false", why: "it saves the digest of the rule where there is no grant" },
    { was: "[]", becomes: '["Stryker was here"]', why: "what is no grant gets no use" },
    // Of another tenant, revoked, expired: such a grant is passed over here, and the journal gives no use of it.
    ...["true", "grant.tenant === principal.tenant && grant.revoked === undefined || grant.expiresAtMs > seams.clock.now()"].map((becomes) => ({ was: "grant.tenant === principal.tenant && grant.revoked === undefined && grant.expiresAtMs > seams.clock.now()", becomes, why: "the journal refuses the use" })),
    ...["true", "grant.tenant === principal.tenant || grant.revoked === undefined"].map((becomes) => ({ was: "grant.tenant === principal.tenant && grant.revoked === undefined", becomes, why: "the journal refuses the use" })),
    { was: "grant.tenant === principal.tenant", becomes: "true", why: "grants of one tenant are listed" },
    { was: "grant.revoked === undefined", becomes: "true", why: "the journal refuses the use" },
    { was: "grant.expiresAtMs > seams.clock.now()", becomes: "true", why: "the journal refuses the use" },
    { was: "grant.expiresAtMs > seams.clock.now()", becomes: "grant.expiresAtMs >= seams.clock.now()", why: "the journal refuses the use" },
  ],
  [`${runtime}/policy/rollout-policy.ts`]: [
    { was: "partOf(runId) < share", becomes: "partOf(runId) <= share", why: "one run in four thousand million stands exactly there" },
    ...["\"\"", "\"sha256:\".length - 16"].map((becomes) => ({ was: becomes === "\"\"" ? '"sha256:"' : '"sha256:".length + 16', becomes, why: "another part of the digest tells versions apart as well" })),
  ],
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: "boolean", default: false }, section: { type: "string", default: "Decisions, approvals and policies" } } });
const mutate = positionals.length > 0 ? positionals : decisive;
if (mutate.some((file) => file.includes("policy-cedar"))) process.env["MUTATION_CEDAR"] = "1";

const results = await new Stryker({
  mutate,
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "checks/full/mutation.config.ts", pool: "forks" },
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  incremental: true,
  incrementalFile: ".staging/mutation.json",
  tempDirName: ".staging/mutation",
  // Only what the tests need is copied.
  ignorePatterns: ["/*", "!/package.json", "!/tsconfig.json", "!/checks/full/mutation.config.ts", "/packages/*", "!/packages/contract", "!/packages/policy-cedar", "!/packages/runtime", "!/packages/testkit"],
  concurrency: 1,
  dryRunTimeoutMinutes: 30,
  timeoutMS: 60_000,
  reporters: ["progress-append-only"],
  allowConsoleColors: false,
}).runMutationTest();

const isSurvivor = ({ status }) => status === "Survived" || status === "NoCoverage";
const byFile = Map.groupBy(results, ({ fileName }) => relative(process.cwd(), fileName));
// What was found before of files that are not asked for is in the results as well.
const files = [...byFile].filter(([file]) => positionals.length === 0 || positionals.includes(file)).toSorted(([a], [b]) => a.localeCompare(b));

/** What stands in the source where the mutant was. */
function originalOf(file, { location: { start, end } }) {
  const lines = readFileSync(file, "utf8").split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join("\n");
}

const flat = (code) => code.replaceAll(/\s+/gu, " ");
const shown = (code) => `\`${flat(code).slice(0, 80).replaceAll("|", "\\|").replaceAll("`", "'")}\``;
const reasonOf = (file, mutant) => explained[file]?.find(({ was, becomes }) => was === flat(originalOf(file, mutant)) && becomes === flat(mutant.replacement))?.why;
const survivors = files.flatMap(([file, mutants]) => mutants.filter(isSurvivor).map((mutant) => ({ file, mutant, why: reasonOf(file, mutant) })));
const unexplained = survivors.filter(({ why }) => why === undefined);

const table = markdownTable(
  ["file", "changes", "noticed", "survived", "of these explained"],
  files.map(([file, mutants]) => {
    const count = (...wanted) => mutants.filter(({ status }) => wanted.includes(status)).length;
    return [`\`${file}\``, count("Killed", "Timeout", "Survived", "NoCoverage"), count("Killed", "Timeout"), count("Survived", "NoCoverage"), survivors.filter((one) => one.file === file && one.why !== undefined).length];
  }),
);
const rows = survivors.map(({ file, mutant, why }) => [`\`${file.split("/").at(-1)}:${mutant.location.start.line}\``, shown(originalOf(file, mutant)), shown(mutant.replacement), why ?? "**not explained**"]);
const text = [
  measured(`node checks/full/mutation.mjs${positionals.map((file) => ` ${file}`).join("")}`),
  "",
  table,
  "",
  survivors.length === 0 ? "Nothing survived." : `What survived:\n\n${markdownTable(["place", "was", "becomes", "why it may"], rows)}`,
].join("\n");

console.log(text);
if (values.write) writeSection({ page: "mutation.md", intro: "# What tests notice\n\nThe code that decides is changed, one small thing at a time, and the unit tests beside it are run against each change. A change that no test notices is a survivor.", section: values.section, text });
if (unexplained.length > 0) {
  console.error(`${unexplained.length} survivors without a reason`);
  process.exitCode = 1;
}
