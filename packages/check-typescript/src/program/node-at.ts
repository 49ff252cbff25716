import ts from "typescript";

/** The outermost node that starts at `offset` and is as long as `length`; the innermost around `offset` where there is none. */
export function nodeAt(file: ts.SourceFile, offset: number, length: number): ts.Node {
  let node: ts.Node = file;
  for (;;) {
    const next: ts.Node | undefined = ts.forEachChild(node, (child) => (child.pos <= offset && offset < child.end ? child : undefined));
    if (next === undefined) return node;
    node = next;
    if (node.getStart(file) === offset && node.end - offset <= length) return node;
  }
}
