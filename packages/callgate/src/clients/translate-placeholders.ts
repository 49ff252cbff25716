import { pathsOf } from "./client-files.ts";
import type { ClientHost } from "./client-files.ts";
import type { VariableNames } from "./needed-variables.ts";

export interface Translation {
  readonly host: ClientHost;
  /** What VS Code asks its user for, by id. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly names: VariableNames;
  /** Name of the server, and where it is written. */
  readonly owner: string;
  readonly where: string;
  /** Whether `$NAME` is a placeholder too. */
  readonly isBareRead: boolean;
  /** What stands for the folder of the project. */
  readonly project: string;
  /** Gets what cannot be said here. */
  readonly untold: (placeholder: string) => void;
}

/**
 * Writes the placeholders of other clients as references of ours: `${env:NAME}`, `${input:id}` and Gemini's `$NAME` become
 * `${NAME}`; folders become paths. `${NAME}` and `${NAME:-otherwise}` stay as they are.
 */
export function translatePlaceholders(text: string, translation: Translation): string {
  const { names, owner, where, untold } = translation;
  const refer = (name: string, otherwise = ""): string => {
    // With a default it need not be set.
    if (otherwise === "") names.refer(name, `used by "${owner}" in ${where}`);
    return `\${${name}${otherwise}}`;
  };
  return text.replace(/\$\{([^}]*)\}|\$([A-Za-z_]\w*)/g, (whole, inner: string | undefined, bare: string | undefined) => {
    if (bare !== undefined) return translation.isBareRead ? refer(bare) : whole;
    const known = folderOf(inner ?? "", translation);
    if (known !== undefined) return known;
    const variable = /^(?:env:)?([A-Za-z_]\w*)(:-[^}]*)?$/.exec(inner ?? "");
    if (variable !== null) return refer(variable[1] ?? "", variable[2]);
    const input = /^input:(.+)$/.exec(inner ?? "")?.[1];
    if (input === undefined) {
      untold(whole);
      return whole;
    }
    return `\${${names.nameFor({ preferred: input, owner, value: undefined, why: `${translation.inputs[input] ?? input}, which VS Code asks for: of "${owner}" in ${where}` })}}`;
  });
}

function folderOf(placeholder: string, { host, project }: Translation): string | undefined {
  switch (placeholder) {
    case "userHome":
      return host.home;
    case "workspaceFolder":
    case "workspaceRoot":
      return project;
    case "workspaceFolderBasename":
      return pathsOf(host).basename(host.folder);
    case "pathSeparator":
    case "/":
      return pathsOf(host).sep;
    default:
      return undefined;
  }
}
