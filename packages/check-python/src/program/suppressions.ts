import type { PythonTree } from "./python-tree.ts";

/** Comments by which a file tells its checkers what not to say, or how strict to be. */
const suppressing = /#[^\r\n]*?(?:type\s*:\s*ignore|pyright\s*:|mypy\s*:|noqa|pylint\s*:|ruff\s*:|nosec)[^\r\n]*/gi;

/**
 * The text with such comments blanked at equal length, so that places stay what they are. A text the parser did not
 * find its way through is blanked wherever such words stand: where a comment starts is then anyone's guess.
 */
export function withoutSuppressions({ text, comments, isWhole }: PythonTree): string {
  if (!isWhole) return text.replace(suppressing, (comment) => " ".repeat(comment.length));
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of comments) {
    parts.push(text.slice(at, from), text.slice(from, to).replace(suppressing, (comment) => " ".repeat(comment.length)));
    at = to;
  }
  return [...parts, text.slice(at)].join("");
}
