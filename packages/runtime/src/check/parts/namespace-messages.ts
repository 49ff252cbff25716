import { createHash } from "node:crypto";
import type { Effect, NamespaceDeclaration } from "@callgate/contract";

/** A namespace as it crosses to a checker's thread: its text only when that thread has not got it yet. */
export interface NamespaceMessage {
  readonly key: string;
  readonly namespace: string;
  readonly load?: { readonly text: string; readonly tools: readonly (readonly [name: string, effect: Effect])[] };
}

/** Namespaces as a thread needs them: with their text only the first time. */
export function createNamespaceMessages(): (known: Set<string>, namespaces: readonly NamespaceDeclaration[]) => NamespaceMessage[] {
  const keys = new WeakMap<NamespaceDeclaration, string>();
  const keyOf = (declaration: NamespaceDeclaration): string => {
    const kept = keys.get(declaration);
    if (kept !== undefined) return kept;
    // Of the text itself: a thread serves one gate after the other, and none may see what another calls by the same name.
    const hash = createHash("sha256").update(`${declaration.namespace}\n`).update(declaration.text).update("\n");
    for (const { name, effect } of declaration.tools) hash.update(`${name} ${effect}\n`);
    const key = hash.digest("base64url");
    keys.set(declaration, key);
    return key;
  };
  return (known, namespaces) =>
    namespaces.map((declaration) => {
      const { namespace, text, tools } = declaration;
      const key = keyOf(declaration);
      if (known.has(key)) return { key, namespace };
      known.add(key);
      return { key, namespace, load: { text, tools: tools.map(({ name, effect }) => [name, effect] as const) } };
    });
}
