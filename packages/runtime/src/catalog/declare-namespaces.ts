import type { DeclarationText, NamespaceDeclaration } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { digestOf } from "../lib/digest.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import type { LearnedType } from "./learned/learned-outputs.ts";
import { declarePython } from "./types/declare-python.ts";
import { declareTypeScript } from "./types/declare-typescript.ts";
import type { DeclaredTool } from "./types/tool-types.ts";

export type DeclarationForm = "typescript" | "python";

/** Declares tools, one text for each of their namespaces. */
export type Declaring = (tools: readonly CatalogTool[], form: DeclarationForm, tenant: string | undefined) => NamespaceDeclaration[];

/** Declarations kept: one for each namespace, its visible tools and form. */
const maxKept = 10_000;

const printers = { typescript: declareTypeScript, python: declarePython };

/** What a tool of a namespace was seen to answer a tenant. The same object until something else is known. */
export type LearnedOf = (tool: CatalogTool, tenant: string) => LearnedType | undefined;

interface Kept {
  readonly learned: readonly (LearnedType | undefined)[];
  readonly declaration: NamespaceDeclaration;
}

/** Each text is made when it is first wanted, and again when something was learned of one of its tools. */
export function createDeclaring(learnedOf: LearnedOf): Declaring {
  const kept = new LRUCache<string, Kept>(atMost(maxKept));
  return (tools, form, tenant) =>
    [...Map.groupBy(tools, ({ namespace }) => namespace)].map(([namespace, members]) => {
      const key = JSON.stringify([form, namespace, tenant, members.map(({ member }) => member).join(" ")]);
      const learned = members.map((tool) => (tenant === undefined ? undefined : learnedOf(tool, tenant)));
      const known = kept.get(key);
      if (known?.learned.every((one, index) => one === learned[index]) === true) return known.declaration;
      const declaration = declareNamespace(namespace, { form, members, learned });
      kept.set(key, { learned, declaration });
      return declaration;
    });
}

interface Members {
  readonly form: DeclarationForm;
  readonly members: readonly CatalogTool[];
  /** In their order. */
  readonly learned: Kept["learned"];
}

function declareNamespace(namespace: string, { form, members, learned }: Members): NamespaceDeclaration {
  const printed = (shown: (learned: LearnedType) => DeclaredTool["learned"]): DeclarationText => {
    const text = printers[form](namespace, members.map(({ member, declared }, index) => {
      const seen = learned[index];
      return { member, spec: declared, learned: seen === undefined ? undefined : shown(seen) };
    }));
    return { text, digest: digestOf(text) };
  };
  return {
    namespace,
    ...printed((seen) => seen),
    tools: members.map(({ member, tool }) => ({ name: member, effect: tool.effect })),
    ...(learned.every((one) => one === undefined) ? {} : { learned: { strict: printed(({ calls, strict }) => ({ calls, schema: strict })), loose: printed(() => undefined) } }),
  };
}
