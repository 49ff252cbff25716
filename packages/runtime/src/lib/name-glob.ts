const maxPatternChars = 256;

/** A pattern over qualified names, each side of the dot by itself: a star never reaches across it. */
export interface NameGlob {
  readonly namespace: string;
  readonly member: string;
}

/**
 * Reads a pattern over qualified names. `*` alone is `*.*`.
 *
 * @returns the glob, or what is wrong with the pattern: a sentence with the way to say it
 */
export function qualifiedGlob(pattern: string): NameGlob | string {
  const whole = pattern === "*" ? "*.*" : pattern;
  const sides = whole.split(".");
  const [namespace = "", member = ""] = sides;
  if (sides.length === 1) return `can match no tool: names are "namespace.tool"; write "${pattern}.*" for all tools of a namespace or "*.${pattern}" for that tool of any`;
  if (sides.length > 2) return 'can match no tool: names are "namespace.tool", with one dot';
  return segmentProblem(namespace) ?? segmentProblem(member) ?? { namespace, member };
}

/** What is wrong with a pattern over one side of a name, such as a namespace. */
export function segmentProblem(side: string): string | undefined {
  if (side === "") return "can match no tool: a side of the dot is empty";
  if (side.length > maxPatternChars) return `is longer than ${maxPatternChars} characters`;
  if (side.includes("?")) return questionProblem(side);
  if (/^[A-Za-z0-9_$*]+$/.test(side)) return undefined;
  return `can match no tool: names hold only letters, digits and "_" (write "${side.replace(/[^A-Za-z0-9_$*]/g, "_")}")`;
}

/** `?` was one character once; Cedar has no such thing, and a star in its place would match more than was meant. */
export function questionProblem(pattern: string): string {
  return `has a "?", which stands for no character any more: name what you mean in a list, or write "${pattern.replaceAll("?", "*")}", which matches more`;
}

/** Whether a qualified name is one the pattern means. */
export function globMatches(glob: NameGlob, name: string): boolean {
  const dot = name.indexOf(".");
  return dot > 0 && segmentMatches(glob.namespace, name.slice(0, dot)) && segmentMatches(glob.member, name.slice(dot + 1));
}

/** The same of one side of a name. The parts between stars come one after the other, the first at the start and the last at the end. Linear in the text for each part. */
export function segmentMatches(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === text;
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const until = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > until) return false;
    at = found + part.length;
  }
  return true;
}
