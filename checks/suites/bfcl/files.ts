import { mistake } from "./world.ts";
import type { Methods } from "./world.ts";

interface File {
  readonly $class: "File";
  name: string;
  content: string;
}
interface Directory {
  readonly $class: "Directory";
  name: string;
  readonly contents: Record<string, Entry>;
}
type Entry = File | Directory;

const file = (name: string, content = ""): File => ({ $class: "File", name, content });

/** A file system of one directory tree, and a place in it. */
export function fileMethods({ root }: { readonly root: Directory }): Methods {
  let path: readonly Directory[] = [root];
  const here = (): Directory => path.at(-1) ?? root;
  const fileNamed = (name: unknown): File | undefined => {
    const found = here().contents[String(name)];
    return found?.$class === "File" ? found : undefined;
  };
  const withFile = (name: unknown, use: (found: File) => unknown): unknown => {
    const found = fileNamed(name);
    return found === undefined ? mistake(`${String(name)}: no such file`) : use(found);
  };
  return {
    cd({ folder }) {
      if (folder === "..") path = path.length > 1 ? path.slice(0, -1) : path;
      else {
        const found = here().contents[String(folder)];
        if (found?.$class !== "Directory") return mistake(`cd: ${String(folder)}: no such directory`);
        path = [...path, found];
      }
      return { current_working_directory: here().name };
    },
    ls: ({ a = false }) => ({ current_directory_content: Object.keys(here().contents).filter((name) => a === true || !name.startsWith(".")) }),
    mkdir({ dir_name }) {
      const name = String(dir_name);
      if (name in here().contents) return mistake(`mkdir: ${name} exists`);
      here().contents[name] = { $class: "Directory", name, contents: {} };
      return null;
    },
    touch({ file_name }) {
      const name = String(file_name);
      if (name in here().contents) return mistake(`touch: ${name} exists`);
      here().contents[name] = file(name);
      return null;
    },
    echo({ content, file_name }) {
      if (typeof file_name !== "string" || file_name === "None") return { terminal_output: content };
      const name = file_name;
      const found = fileNamed(name);
      if (found === undefined) here().contents[name] = file(name, String(content));
      else found.content = String(content);
      return null;
    },
    cat: ({ file_name }) => withFile(file_name, ({ content }) => ({ file_content: content })),
    grep: ({ file_name, pattern }) => withFile(file_name, ({ content }) => ({ matching_lines: content.split("\n").filter((line) => line.includes(String(pattern))) })),
    sort: ({ file_name }) => withFile(file_name, ({ content }) => ({ sorted_content: content.split("\n").sort().join("\n") })),
    tail: ({ file_name, lines = 10 }) => withFile(file_name, ({ content }) => ({ last_lines: content.split("\n").slice(-Number(lines)).join("\n") })),
    wc: ({ file_name, mode = "l" }) => withFile(file_name, ({ content }) => countOf(content, String(mode))),
    diff: ({ file_name1, file_name2 }) => withFile(file_name1, (one) => withFile(file_name2, (two) => ({ diff_lines: differenceOf(one.content, two.content) }))),
    du: () => ({ disk_usage: `${sizeOf(here()).toFixed(2)} B` }),
    find: ({ path: start = ".", name }) => ({ matches: [...namesBelow(here(), String(start))].filter((found) => typeof name !== "string" || name === "None" || (found.split("/").at(-1) ?? "").includes(name)) }),
    rm: ({ file_name }) => removed(here(), String(file_name)),
    rmdir({ dir_name }) {
      const found = here().contents[String(dir_name)];
      if (found?.$class !== "Directory") return mistake(`rmdir: ${String(dir_name)}: no such directory`);
      return Object.keys(found.contents).length > 0 ? mistake(`rmdir: ${String(dir_name)} is not empty`) : removed(here(), String(dir_name));
    },
    mv: ({ source, destination }) => placed(here(), { source: String(source), destination: String(destination) }, "moved"),
    cp: ({ source, destination }) => placed(here(), { source: String(source), destination: String(destination) }, "copied"),
  };
}

function removed({ contents }: Directory, name: string): unknown {
  if (!(name in contents)) return mistake(`${name}: no such file or directory`);
  delete contents[name];
  return { result: `'${name}' removed` };
}

function placed({ contents }: Directory, { source, destination }: { readonly source: string; readonly destination: string }, how: "moved" | "copied"): unknown {
  const found = contents[source];
  if (found === undefined) return mistake(`${source}: no such file or directory`);
  const target = contents[destination];
  if (target?.$class === "File") return how === "moved" ? replaced(contents, { found, source, destination }) : mistake(`${destination} exists`);
  const copy = how === "moved" ? found : structuredClone(found);
  if (how === "moved") delete contents[source];
  if (target === undefined) contents[destination] = { ...copy, name: destination };
  else target.contents[source] = copy;
  return { result: `'${source}' ${how} to '${target === undefined ? destination : `${destination}/${source}`}'` };
}

function replaced(contents: Directory["contents"], { found, source, destination }: { readonly found: Entry; readonly source: string; readonly destination: string }): unknown {
  delete contents[source];
  contents[destination] = { ...found, name: destination };
  return { result: `'${source}' moved to '${destination}'` };
}

function countOf(content: string, mode: string): unknown {
  if (mode === "l") return { count: content.split("\n").length, type: "lines" };
  return mode === "w" ? { count: content.split(/\s+/).filter((word) => word !== "").length, type: "words" } : { count: content.length, type: "characters" };
}

function differenceOf(one: string, two: string): string {
  const [first, second] = [one, two].map((text) => (text === "" ? [] : text.split("\n"))) as [string[], string[]];
  return first.flatMap((line, index) => (index >= second.length || line === second[index] ? [] : [`- ${line}\n+ ${second[index] ?? ""}`])).join("\n");
}

function sizeOf(entry: Entry): number {
  return entry.$class === "File" ? entry.content.length : Object.values(entry.contents).reduce((sum, one) => sum + sizeOf(one), 0);
}

function* namesBelow(directory: Directory, at: string): Generator<string> {
  for (const [name, entry] of Object.entries(directory.contents)) {
    yield `${at}/${name}`;
    if (entry.$class === "Directory") yield* namesBelow(entry, `${at}/${name}`);
  }
}
