import { CallgateError } from "@callgate/contract";
import type { Gate, ProgramLanguage } from "@callgate/contract";
import { createBlockExecutor, languageOf, languagesText } from "@callgate/runtime/executor";
import type { BlockExecutor } from "@callgate/runtime/executor";
import { createCallgate, definedLimits } from "../create-callgate.ts";
import type { CallgateOptions } from "../create-callgate.ts";
import { completePrincipal } from "../principal-input.ts";
import { registeredLanguages } from "../program-languages.ts";
import { guestUserOf } from "../sandbox-driver.ts";
import { createExecutorFolders } from "./executor-folders.ts";
import type { ExecutorFolders } from "./executor-folders.ts";
import { loadFunctions, moduleName } from "./python-functions.ts";
import type { PythonFunctions } from "./python-functions.ts";

/** What `createCodeExecutor` takes: what a gate takes, and what is about blocks. */
export interface CodeExecutorOptions extends CallgateOptions {
  /**
   * The folder that blocks work in: it is their working folder, they can change all that is in it, and named files are
   * kept there. Made when it is not there. Default: a folder of the executor's own, removed by `close`.
   */
  readonly workDir?: string;
  /** Wall time of one block. Default 60,000. */
  readonly timeoutMs?: number;
  /** Languages that are taken, by any of their names. Default: python, shell, javascript, typescript, node, and those of `sandbox.languages`. */
  readonly languages?: readonly string[];
  /** The language of Markdown blocks that name none. Default: such blocks are left out. */
  readonly unlabelled?: string;
  /** Functions in Python that blocks can import. Functions of TypeScript are `tools`. */
  readonly functions?: PythonFunctions;
  /** Hears what went wrong where no result can tell: a folder of ours that could not be removed. Must not throw. */
  readonly onProblem?: (message: string) => void;
}

/** Executes code blocks in sandboxes, through a gate of its own. Close it when done. */
export interface CodeExecutor extends BlockExecutor, AsyncDisposable {
  /** The gate all blocks go through: runs, results, events, tools. */
  readonly gate: Gate;
  readonly languages: readonly ProgramLanguage[];
  /** The working folder on this machine. */
  readonly workDir: string;
  /** What a model should know, for its prompt: languages, files, the functions with their signatures and docstrings. */
  readonly prompt: string;
  /** Ends what runs, and removes what is the executor's own: never a file in a folder that the user named. Idempotent. */
  close(): Promise<void>;
}

const ownLanguages: readonly ProgramLanguage[] = ["python", "shell", "javascript", "typescript", "node"];
/** Where guests have the folders. The first is the working folder of every process sandbox. */
const inGuest = { work: "/workspace", modules: "/functions" } as const;

/**
 * Opens an executor: Python, shell, Node and languages by command in process sandboxes, JavaScript and TypeScript in the
 * embedded one.
 *
 * Errors: those of `createCallgate`; CONFIG_INVALID for a wrong option, a working folder that cannot be used, or functions
 * that cannot be loaded. After an error nothing is left open.
 */
export async function createCodeExecutor(options: CodeExecutorOptions = {}): Promise<CodeExecutor> {
  const { workDir, timeoutMs = 60_000, functions, onProblem = () => undefined, ...gateOptions } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) throw new CallgateError("CONFIG_INVALID", `timeoutMs must be a whole number of milliseconds from 1, not ${String(timeoutMs)}`);
  const all = allLanguages(options);
  const languages = (options.languages ?? all).map((name) => known(name, "languages", all));
  const unlabelled = options.unlabelled === undefined ? undefined : known(options.unlabelled, "unlabelled", all);
  const folders = createExecutorFolders({
    workDir,
    folder: options.folder ?? process.cwd(),
    guestUser: await guestUserOf(options.sandbox ?? {}),
    modules: functions === undefined ? {} : { [`${moduleName(functions)}.py`]: functions.source },
  });
  const removeFolders = (): void => {
    for (const left of folders.remove()) onProblem(left);
  };
  let gate: Gate | undefined;
  try {
    gate = await createCallgate(withFolders(gateOptions, { folders, timeoutMs, functions }));
    const stubs = functions === undefined ? undefined : { module: moduleName(functions), text: await loadFunctions(gate, functions) };
    return composeExecutor(gate, { options, languages, unlabelled, timeoutMs, workDir: folders.work, prompt: promptOf(languages, stubs), removeFolders });
  } catch (fault) {
    await gate?.close();
    removeFolders();
    throw fault;
  }
}

/** What a block can be in here. Deno has no commands and runs no Node. */
function allLanguages({ sandbox = {} }: CodeExecutorOptions): readonly ProgramLanguage[] {
  if (sandbox.launcher === "deno") return ownLanguages.filter((language) => language !== "node" && language !== "shell");
  return [...ownLanguages, ...registeredLanguages(sandbox).map(({ language }) => language)];
}

function known(name: string, where: string, all: readonly ProgramLanguage[]): ProgramLanguage {
  const language = languageOf(name, all);
  if (language === undefined) throw new CallgateError("CONFIG_INVALID", `${where}: unknown language ${name}; there are ${languagesText(all)}`);
  return language;
}

interface Composition {
  readonly options: CodeExecutorOptions;
  readonly languages: readonly ProgramLanguage[];
  readonly unlabelled: ProgramLanguage | undefined;
  readonly timeoutMs: number;
  readonly workDir: string;
  readonly prompt: string;
  readonly removeFolders: () => void;
}

function composeExecutor(gate: Gate, { options, languages, unlabelled, timeoutMs, workDir, prompt, removeFolders }: Composition): CodeExecutor {
  const { budgetTokens, principal } = options;
  const blocks = createBlockExecutor({
    gate,
    languages,
    folder: workDir,
    timeoutMs,
    limits: definedLimits(options.limits ?? {}),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
    ...(principal === undefined ? {} : { principal: completePrincipal(principal) }),
    ...(unlabelled === undefined ? {} : { unlabelled }),
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= gate.close().finally(removeFolders));
  return { ...blocks, gate, languages, workDir, prompt, close, [Symbol.asyncDispose]: close };
}

/** The gate's own options, with the folders where programs find them. */
function withFolders(options: CallgateOptions, { folders, timeoutMs, functions }: { readonly folders: ExecutorFolders; readonly timeoutMs: number; readonly functions: PythonFunctions | undefined }): CallgateOptions {
  const { sandbox = {}, python = {}, limits = {} } = options;
  // Without walls programs see the host's own paths, and nothing can be mounted.
  const isLocal = sandbox.launcher === "local-unsafe";
  const modulesPath = folders.modules === undefined ? [] : [isLocal ? folders.modules : inGuest.modules];
  const given = sandbox.environment ?? {};
  const path = [...modulesPath, ...(given["PYTHONPATH"] === undefined ? [] : [given["PYTHONPATH"]])].join(":");
  return {
    ...options,
    limits: { cpuMs: timeoutMs, ...limits, wallMs: timeoutMs },
    ...(functions === undefined ? {} : { pythonFunctions: { ...options.pythonFunctions, [moduleName(functions)]: functions.source } }),
    python: { ...python, modules: [...(python.modules ?? []), ...(functions?.packages ?? [])], folders: [...(python.folders ?? []), folders.work, ...(folders.modules === undefined ? [] : [folders.modules])] },
    sandbox: {
      warm: 1,
      ...sandbox,
      mounts: [
        ...(sandbox.mounts ?? []),
        { host: folders.work, guest: inGuest.work, mode: "rw" },
        ...(folders.modules === undefined || isLocal ? [] : [{ host: folders.modules, guest: inGuest.modules, mode: "ro" as const }]),
      ],
      // Caches of libraries belong to the run, not to the user's folder.
      environment: { ...(isLocal ? {} : { HOME: "/tmp" }), ...given, ...(path === "" ? {} : { PYTHONPATH: path }) },
    },
  };
}

function promptOf(languages: readonly ProgramLanguage[], stubs: { readonly module: string; readonly text: string } | undefined): string {
  const lines = [
    `Code is executed in these languages: ${languagesText(languages)}. Each block runs in a fresh interpreter; files of the working folder stay.`,
    "A first line `# filename: NAME` (or `// filename: NAME`) keeps the block's code as a file there. Files written to out/ and figures are handed over.",
  ];
  if (stubs !== undefined) lines.push(`Python blocks can import these functions, e.g. \`from ${stubs.module} import ...\`:`, "", "```python", stubs.text, "```");
  return lines.join("\n");
}
