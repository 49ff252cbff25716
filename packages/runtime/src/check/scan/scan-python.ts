import type { SyntaxNode, Tree } from "@lezer/common";
import type { ScanFinding, ScanRule } from "./scan-rules.ts";

/** Rules by what is used, with imports followed: `from os import system as s` makes `s` os.system. */
const uses: readonly (readonly [rule: ScanRule, name: RegExp])[] = [
  ["PY_OS_SYSTEM", /^(?:(?:os|posix)\.(?:system|popen|startfile)|subprocess\.get(?:status)?output|asyncio\.create_subprocess_shell)$/],
  ["PY_DUNDER_IMPORT", /^(?:builtins\.)?__import__$/],
  ["PY_EVAL", /^(?:builtins\.)?(?:eval|exec)$/],
  ["PY_DYNAMIC_IMPORT", /^importlib\.(?:import_module|reload|util)\b/],
  ["PY_DESERIALIZE", /^(?:(?:_?pickle|marshal|shelve|dill|jsonpickle|joblib)\.(?:loads?|open|Unpickler|decode|DbfilenameShelf)|(?:pandas|pd)\.read_pickle)$/],
  ["PY_YAML_LOAD", /^yaml\.(?:load|load_all|unsafe_load|full_load)$/],
  ["PY_LOG_LISTEN", /^logging\.config\.listen$/],
  ["PY_TEMP_NAME", /^tempfile\.mktemp$/],
  ["PY_NETWORK", /^(?:urllib\.request\.(?:urlopen|urlretrieve|Request|URLopener|build_opener)|(?:telnetlib\.Telnet|ftplib\.FTP(?:_TLS)?|smtplib\.SMTP(?:_SSL)?|socket\.(?:socket|create_connection)|http\.client\.HTTPS?Connection|xmlrpc\.client\.ServerProxy))$/],
  ["PY_NATIVE", /^ctypes\./],
  ["PY_SUBPROCESS", /^(?:subprocess\.(?:run|call|check_call|check_output|Popen)|os\.(?:exec|spawn|posix_spawn)\w*|pty\.spawn|asyncio\.create_subprocess_\w+)$/],
];

const introspection = /^__(?:subclasses|globals|mro|bases|code|builtins)__$/;

/** Finds uses of what reaches out of the program, in code only: comments and texts are none. */
export function scanPython(text: string, tree: Tree): ScanFinding[] {
  const names = importedNames(text, tree);
  const findings: ScanFinding[] = [];
  tree.iterate({
    enter({ name, node, from, to }) {
      if (name === "PropertyName" && introspection.test(text.slice(from, to))) findings.push({ rule: "PY_INTROSPECTION", offset: from });
      if (name === "VariableName" && node.parent?.name !== "ImportStatement") findings.push(...useAt(node, text, names));
      if (name === "CallExpression" && hasShellTrue(node, text)) findings.push({ rule: "PY_SHELL_TRUE", offset: from });
    },
  });
  return findings;
}

function useAt(name: SyntaxNode, text: string, names: ReadonlyMap<string, string>): ScanFinding[] {
  const word = text.slice(name.from, name.to);
  let path = names.get(word) ?? word;
  let at = name;
  // Three members are more than any rule looks at.
  for (let depth = 0; depth < 3 && at.parent?.name === "MemberExpression" && at.parent.from === name.from; depth++) {
    const member = at.parent.getChild("PropertyName");
    if (member === null) break;
    path += `.${text.slice(member.from, member.to)}`;
    at = at.parent;
    const found = ruleOf(path);
    if (found !== undefined) return [{ rule: found, offset: name.from }];
  }
  const found = ruleOf(path);
  return found === undefined ? [] : [{ rule: found, offset: name.from }];
}

function ruleOf(path: string): ScanRule | undefined {
  return uses.find(([, name]) => name.test(path))?.[0];
}

/** What each name of an import stands for: `s` → `os.system`, `sp` → `subprocess`. */
function importedNames(text: string, tree: Tree): Map<string, string> {
  const names = new Map<string, string>();
  tree.iterate({
    enter({ name, node }) {
      if (name !== "ImportStatement") return;
      const words: string[] = [];
      for (let at = node.firstChild; at !== null; at = at.nextSibling) words.push(text.slice(at.from, at.to));
      const isFrom = words[0] === "from";
      const start = isFrom ? words.indexOf("import") : 0;
      const module = isFrom ? `${words.slice(1, start).join("")}.` : "";
      for (const part of words.slice(start + 1).join(" ").split(",")) {
        const [path = "", local] = part.replace(/[()]/g, "").split(" as ").map((word) => word.replace(/\s+/g, ""));
        if (local !== undefined || isFrom) names.set(local ?? path, `${module}${path}`);
      }
    },
  });
  return names;
}

function hasShellTrue(call: SyntaxNode, text: string): boolean {
  const keywords = call.getChild("ArgList")?.getChildren("VariableName") ?? [];
  return keywords.some((keyword) => {
    const value = keyword.nextSibling?.name === "AssignOp" ? keyword.nextSibling.nextSibling : null;
    return text.slice(keyword.from, keyword.to) === "shell" && value !== null && /^(?:True|1)$/.test(text.slice(value.from, value.to));
  });
}
