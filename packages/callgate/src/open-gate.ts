import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Approver, AskServerQuestion, Gate } from "@callgate/contract";
import { approvalsConfig } from "./approver/approval-rules.ts";
import { loadConfig } from "./config/load-config.ts";
import type { SandboxConfig } from "./config/config-schema.ts";
import type { LoadedConfig } from "./config/load-config.ts";
import { createCallgate } from "./create-callgate.ts";
import { definedOnly, profilePrincipal } from "./principal-input.ts";
import type { PrincipalInput } from "./principal-input.ts";
import { folderSources } from "./folder/folder-sources.ts";
import type { UserFolders } from "./state-folder.ts";

export interface OpenGateOptions {
  readonly configFile: string | undefined;
  /** Where `tools/` is looked for when there is no configuration. */
  readonly folder: string;
  readonly folders: UserFolders;
  /** Asked before anything of a folder is loaded; throws when the answer is no. */
  readonly ensureTrust: (folder: string) => Promise<void>;
  readonly principal: PrincipalInput;
  /** Of the configuration's profiles. Default: the configuration's own choice. */
  readonly profile?: string | undefined;
  readonly approver?: Approver;
  readonly askServerQuestion?: AskServerQuestion;
  readonly warm: boolean;
  /** Over the default of `createCallgate`. */
  readonly eagerSources?: boolean;
  readonly passThrough?: string;
  readonly onFault?: (fault: unknown) => void;
  /** Over the configuration's `sandbox.launcher`. A program of TypeScript goes there as well: in Node. */
  readonly launcher?: SandboxConfig["launcher"];
}

/**
 * Opens the gate a folder describes: its configuration, its tool files, the user's journal.
 *
 * Errors: `CallgateError` CONFIG_INVALID, NOT_TRUSTED, JOURNAL_*.
 */
export async function openGate(options: OpenGateOptions): Promise<Gate> {
  const loaded = await loadTrusted(options);
  const { config: { profiles, profile, agent: _agent, lint: _lint, ...config } } = loaded;
  const configured = profilePrincipal({ principal: config.principal, profiles, profile }, options.profile);
  const toolsFolder = config.toolsFolder === false ? undefined : resolve(loaded.folder, config.toolsFolder ?? "tools");
  const files = toolsFolder === undefined ? [] : folderSources(toolsFolder);
  if (toolsFolder !== undefined && files.length > 0) await options.ensureTrust(dirname(toolsFolder) === loaded.folder ? loaded.folder : toolsFolder);
  const sources = [...(config.sources ?? []), ...files];
  const workflowsFolder = workflowsFolderOf(loaded);
  const hasWorkflows = workflowsFolder !== undefined && existsSync(workflowsFolder);
  if (hasWorkflows) await options.ensureTrust(dirname(workflowsFolder) === loaded.folder ? loaded.folder : workflowsFolder);
  const templatesFolder = config.templatesFolder === false ? undefined : resolve(loaded.folder, config.templatesFolder ?? "templates");
  const templates = templatesFolder !== undefined && existsSync(templatesFolder) ? templatesFolder : undefined;
  if (templates !== undefined) await options.ensureTrust(dirname(templates) === loaded.folder ? loaded.folder : templates);
  return await createCallgate({
    ...config,
    templatesFolder: templates ?? false,
    workflowsFolder: hasWorkflows ? workflowsFolder : false,
    folder: loaded.folder,
    stateFolder: options.folders.state,
    // The agent is loaded only where there is one: every command waits for what is loaded here.
    sources: [...sources, ...(loaded.config.agent === undefined ? [] : (await import("./agent/model-source.ts")).modelSource(loaded.config, { folder: loaded.folder, env: process.env, sources }))],
    warm: options.warm,
    ...(options.eagerSources === undefined ? {} : { eagerSources: options.eagerSources }),
    ...(options.askServerQuestion === undefined ? {} : { askServerQuestion: options.askServerQuestion }),
    ...(options.passThrough === undefined ? {} : { passThrough: options.passThrough }),
    ...(options.onFault === undefined ? {} : { onFault: options.onFault }),
    ...(options.launcher === undefined ? {} : { sandbox: { ...config.sandbox, launcher: options.launcher, ...javaScriptPlace(options.launcher) } }),
    principal: { ...configured, ...definedOnly(options.principal) },
    // Questions that are kept are kept, whether somebody sits at a terminal or not.
    ...(options.approver === undefined || approvalsConfig(config.approvals).mode === "keep" ? {} : { approver: options.approver }),
  });
}

/** Where the workflows of a folder are, whether there are any or not; undefined where it is to have none. */
export function workflowsFolderOf({ config, folder }: Pick<LoadedConfig, "config" | "folder">): string | undefined {
  return config.workflowsFolder === false ? undefined : resolve(folder, config.workflowsFolder ?? "workflows");
}

/** Who names a place for one program means it, whatever its language. Deno runs JavaScript itself, and `auto` names no place. */
function javaScriptPlace(launcher: SandboxConfig["launcher"]): Pick<SandboxConfig, "javascript"> {
  if (launcher === "auto") return {};
  return { javascript: launcher === "deno" ? "embedded" : "node" };
}

/** The configuration of a folder, which is trusted before any of it is loaded. */
export async function loadTrusted({ configFile, folder, folders, ensureTrust }: Pick<OpenGateOptions, "configFile" | "folder" | "folders" | "ensureTrust">): Promise<LoadedConfig> {
  if (configFile === undefined) return { config: {}, file: undefined, folder };
  // The user's own configuration folder needs no further trust: who writes there is the user.
  // A file that is not there is said to be missing, not untrusted: trusting its folder would not help.
  if (existsSync(configFile) && dirname(configFile) !== folders.config) await ensureTrust(dirname(configFile));
  return await loadConfig(configFile);
}
