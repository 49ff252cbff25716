// Defects of agent frameworks that are on public record, and what happens here in their place. A row without a test of its
// number is an error of the printer: what is said in the last column is tried. The numbers are those that the tests have
// in their names (`agent-and-executor 21`).
import { globSync, readFileSync } from "node:fs";

/** `where`: the thread or project in which it is on record. `seen`: it was seen in a run or in the source, not in a thread. */
const defects = [
  { cases: [1, 3], where: "autogen-core 0.7.5 (seen)", there: "the schema of a tool is made on its first use, and a recursive one cannot be", here: "a schema is judged when the tool is registered; a recursive one keeps its definitions" },
  { cases: [2], where: "autogen-core 0.7.5 (seen)", there: "`strict` is lost when a tool is saved and loaded", here: "a strict agent holds every tool to it when it is made, and names the parameter that does not fit" },
  { cases: [4, 10, 11], where: "autogen-core 0.7.5 (seen); agent-framework #1179; vercel/ai #19966", there: "objects are printed as Python writes them; an error is empty or null, and the provider refuses the turn", here: "results are JSON, nothing has a fixed word, and an error always has a text" },
  { cases: [5, 6], where: "autogen #5666, PR #7128", there: "empty arguments are taken for broken JSON, and the model tries the same again and again", here: "empty is `{}`; what is no JSON is told with the place" },
  { cases: [7, 8], where: "autogen-core 0.7.5 (seen)", there: "an unknown tool is told without a hint; an argument too many is dropped without a word", here: "the nearest names are told; an argument too many is an error that names it" },
  { cases: [9], where: "agent-framework #5934", there: "an explicit null becomes the default", here: "null is passed as null where the schema has it" },
  { cases: [12, 74], where: "autogen #6468, #6425, #6031, #6202, #7129", there: "calls of MCP servers end after five seconds, or never; a tool's deadline is the thread's, which goes on", here: "a deadline for each tool, a minute where none is said, the signal aborts, a late result is recorded and delivered to nobody" },
  { cases: [13], where: "autogen #2469; smolagents #1930", there: "a large result fills the context", here: "it is outlined within a budget, and the rest is one handle away" },
  { cases: [14, 15], where: "autogen-agentchat 0.7.5 (seen)", there: "all calls of a turn run at once, without a bound", here: "a cap, results in the order of the requests, events in one pinned order" },
  { cases: [16, 20], where: "autogen #6268, #4481; agent-framework #2329, #695", there: "one call by default, lifetime counters, and an exception at the end of a budget", here: "budgets of a run, which end in an answer that can be used; no call is without a result" },
  { cases: [17], where: "autogen PR #7710", there: "the summary holds the last round alone", here: "it holds every round" },
  { cases: [18], where: "autogen-agentchat 0.7.5 (seen)", there: "braces in a template of the summary are an exception", here: "only the three names are filled in" },
  { cases: [19], where: "autogen #6835", there: "a call in the closing turn is an exception", here: "the answer is made of what is known" },
  { cases: [21, 22, 27], where: "autogen #7956, PR #7991", there: "a cancel, or one source that cannot list its tools, hangs the stream for good", here: "the stream ends within half a second of its clock; a broken source is told and the others work; to stop iterating ends the work" },
  { cases: [23], where: "autogen-agentchat 0.7.5 (seen)", there: "a handoff with wrong arguments hangs", here: "it is a call that failed; the first handoff of a turn counts, and the other calls are done" },
  { cases: [24, 25], where: "autogen #8008, PR #8022; (seen)", there: "one class alone streams, and it forgets renames", here: "every tool may report progress; a renamed tool has its new name everywhere and the old one nowhere" },
  { cases: [26], where: "autogen-agentchat 0.7.5 (seen)", there: "two tools of one name are both sent, and the first is called", here: "two sources cannot claim one namespace, and no two names are equal" },
  { cases: [28, 30], where: "agent-framework #4879, #4753, #6910; openai-agents-js PR #1418; openai-agents-python #3004; vercel/eve #236; langgraph #6208; langgraphjs #1552, #1298", there: "one call that asks holds or loses its siblings; going on asks again, or does again what was done", here: "only the call that asks waits; its siblings are done once; what is performed is what was approved" },
  { cases: [29, 31, 32], where: "autogen #4894, #5891", there: "a refusal looks like a failure, is generated anew, and an approver that fails lets through", here: "a refusal is its own outcome, nobody is asked twice, and an approver that fails denies" },
  { cases: [33], where: "none known", there: "(asked for beside the others) a standing approval that names no arguments is good for all", here: "a grant is for what it names" },
  { cases: [65], where: "autogen #8239, #7462, PR #7941", there: "the words promise a scan of dangerous code that is not there", here: "the scan is advice that feeds a review; what it does not find is pinned by a test, and the wall is the sandbox" },
  { cases: [66], where: "llm-sandbox #147", there: "a policy can be set, and `run` does not look at it", here: "one door: the same verdict on every way to a tool" },
  { cases: [67, 68], where: "agno #10366; crewAI #5802", there: "a retry does again what was done, under a new id", here: "only what declares it is tried again, under one key; answers are kept for reads that declare it" },
  { cases: [69], where: "autogen-core 0.7.5 (seen)", there: "arguments and results go whole into the log, and a failure not at all", here: "one span for the agent, each block and each call, with codes and durations and nothing that was said" },
  { cases: [70], where: "autogen #7662, PR #7362", there: "a configuration that is loaded runs the code in it", here: "functions are the host's own, and a broken one is an error when it is set up" },
  { cases: [71], where: "claude-code #31208; codex #4819; autogen-core 0.7.5 (seen)", there: "a picture goes into the context as base64 text", here: "it is a picture part" },
  { cases: [72, 73], where: "autogen #6425, #6031", there: "a server that does not start, or dies, hangs its caller", here: "an error within the connect deadline; the next call connects anew" },
  { cases: [75], where: "autogen-ext 0.7.5 (seen)", there: "`$defs` and `anyOf` at the root of a server's schema are lost", here: "a schema reaches the model as it is" },
];

/** Files with a test of each number. */
function testFiles() {
  const found = new Map();
  for (const file of globSync("packages/**/*.test.ts", { exclude: (path) => String(path).includes("node_modules") }).sort()) {
    for (const [, numbers] of readFileSync(file, "utf8").matchAll(/agent-and-executor ([0-9][0-9, ]*):?/g)) {
      for (const number of numbers.split(/, */).map(Number)) found.set(number, (found.get(number) ?? new Set()).add(file));
    }
  }
  return found;
}

/** Throws for a row whose number no test has. */
export function publicDefects() {
  const files = testFiles();
  const rows = defects.map(({ cases, where, there, here }) => {
    const tests = cases.map((number) => {
      const [file] = files.get(number) ?? [];
      if (file === undefined) throw new Error(`public defects: no test is called "agent-and-executor ${number}"`);
      return `[${number}](../${file})`;
    });
    return `| ${where} | ${there} | ${here} | ${tests.join(", ")} |`;
  });
  return ["| on record in | there | here | test |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
