import ts from "./typescript.cjs";

/** The innermost node that starts at `offset` and is `length` long; the innermost around `offset` where there is none. */
export function nodeAt(file: ts.SourceFile, offset: number, length: number): ts.Node {
  let node: ts.Node = file;
  let found: ts.Node | undefined;
  for (;;) {
    const next: ts.Node | undefined = ts.forEachChild(node, (child) => (child.pos <= offset && offset < child.end ? child : undefined));
    if (next === undefined) return found ?? node;
    node = next;
    if (node.getStart(file) === offset && node.end - offset === length) found = node;
  }
}
