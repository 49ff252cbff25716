import { basename, dirname, extname } from "node:path";

/** A short name for a source out of what it is: the package, host, file or database. */
export function sourceNameOf(what: string): string {
  return shortened(wordsOf(what)) || "source";
}

function wordsOf(what: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(what) && URL.canParse(what)) {
    const url = new URL(what);
    if (!/^https?:$/.test(url.protocol)) return url.pathname.replace(/^\//, "") || url.hostname;
    const labels = url.hostname.split(".");
    return labels.length > 1 && !/^\d+$/.test(labels.at(-1) ?? "") ? (labels.at(-2) ?? url.hostname) : url.hostname;
  }
  if (/[\\/]/.test(what) && !what.startsWith("@")) return fileName(what);
  const [, scope, name = what] = /^@([^/]+)\/([^@]+)/.exec(what) ?? [];
  const bare = shortened(name.replace(/@.*$/, ""));
  return bare === "" ? (scope ?? name) : /\.(?:[cm]?[jt]s|py|json|ya?ml|db|sqlite3?)$/.test(what) ? fileName(what) : bare;
}

/** `openapi.json` says less than the folder it is in. */
function fileName(path: string): string {
  const stem = basename(path, extname(path));
  return /^(?:openapi|swagger|api|index|server|main)$/i.test(stem) && dirname(path) !== "." ? basename(dirname(path)) : stem;
}

/** Without the words that every server has in its name. */
function shortened(name: string): string {
  const words = name.split(/[-_. ]+/).filter((word) => word !== "" && !/^(?:mcp|server|official)$/i.test(word));
  return words.join("_").replace(/[^A-Za-z0-9_]/g, "_").toLowerCase().slice(0, 40);
}
