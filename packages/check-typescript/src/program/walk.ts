import ts from "./typescript.cjs";

/** Calls `visit` for every node below `root`, itself included, parents first. A visit that answers false leaves out what is below. */
export function walk(root: ts.Node, visit: (node: ts.Node) => boolean | void): void {
  if (visit(root) === false) return;
  ts.forEachChild(root, (child) => {
    walk(child, visit);
  });
}

/** The expression inside parentheses, casts, `!` and `satisfies`. */
export function bare(node: ts.Expression): ts.Expression {
  let at = node;
  while (ts.isParenthesizedExpression(at) || ts.isAsExpression(at) || ts.isNonNullExpression(at) || ts.isSatisfiesExpression(at) || ts.isTypeAssertionExpression(at)) at = at.expression;
  return at;
}

/** Whether something is given a value here, with `=`. */
export function isAssigned(access: ts.Expression): boolean {
  const { parent } = access;
  return ts.isBinaryExpression(parent) && parent.left === access && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

export function isFunctionExpression(node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

export function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false);
}

/** The nearest function around a node. */
export function functionAround(node: ts.Node): ts.SignatureDeclaration | undefined {
  let at = node.parent;
  while (at !== undefined && !ts.isFunctionLike(at)) at = at.parent;
  return at;
}

/** Statements that only declare: they do nothing when they are reached. */
export function isTypeStatement(statement: ts.Statement): boolean {
  return ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || hasModifier(statement, ts.SyntaxKind.DeclareKeyword) || ts.isEmptyStatement(statement);
}

/** Whether a node stands where only types stand. */
export function isInType(node: ts.Node): boolean {
  for (let at: ts.Node | undefined = node; at !== undefined && !ts.isStatement(at); at = at.parent) {
    if (ts.isTypeNode(at) && !(ts.isExpressionWithTypeArguments(at) && ts.isHeritageClause(at.parent) && at.parent.token === ts.SyntaxKind.ExtendsKeyword && ts.isClassLike(at.parent.parent))) return true;
  }
  return false;
}
