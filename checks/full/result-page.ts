// Pages of docs/results that several long checks write to: each run replaces its own section and leaves the others.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export interface ResultSection {
  readonly page: string;
  /** Opens the page. */
  readonly intro: string;
  /** The heading. */
  readonly section: string;
  readonly text: string;
}

export function writeSection({ page, intro, section, text }: ResultSection): void {
  const file = new URL(`../../docs/results/${page}`, import.meta.url);
  const [, ...kept] = existsSync(file) ? readFileSync(file, "utf8").split(/^(?=## )/mu) : [""];
  const heading = `## ${section}\n`;
  const sections = [...kept.filter((old) => !old.startsWith(heading)).map((old) => `${old.trimEnd()}\n`), `${heading}\n${text.trimEnd()}\n`].sort((a, b) => a.localeCompare(b));
  writeFileSync(file, `${intro.trimEnd()}\n\n${sections.join("\n")}`);
}

export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** What a page says of how it came about: `Measured 2026-01-31, Node v24.1.0: `command``. */
export function measured(command: string): string {
  return `Measured ${new Date().toISOString().slice(0, 10)}, Node ${process.version}: \`${command}\`.`;
}
