import { valueType } from "./value-record.ts";

/** The paths that policies look at: only these are in the schema, and only these are handed over. */
export interface ChosenPaths {
  /** JSON Pointers into the arguments. */
  readonly args: readonly string[];
  /** JSON Pointers into results. */
  readonly results: readonly string[];
  /** JSON Pointers into the principal's claims. */
  readonly claims: readonly string[];
}

/** The Cedar schema that policies are validated against. What is in it is evaluated; there is nothing else in it. */
export function schemaText({ args, results, claims }: ChosenPaths): string {
  const record = (pointers: readonly string[]): string => `{ ${pointers.map((pointer) => `${quoted(pointer)}?: Value`).join(", ")} }`;
  return `type Value = ${valueType};

entity Tenant, Role, Agent;
entity User in [Tenant, Role, Agent] { user: String, tenant: String, agent?: String, claims: ${record(claims)} };

entity Namespace, Tag, Permission, Label;
entity Effect enum ["read", "write", "destructive"];
entity Tool in [Namespace, Effect, Tag, Permission, Label] { name: String, namespace: String };
entity Language;

action call appliesTo {
  principal: User,
  resource: Tool,
  context: { approved: Bool, lane: String, now: datetime, calls: Long, taint: Set<String>, args: ${record(args)} },
};
action result appliesTo {
  principal: User,
  resource: Tool,
  context: { approved: Bool, lane: String, now: datetime, calls: Long, taint: Set<String>, args: ${record(args)}, result: ${record(results)} },
};
action run appliesTo {
  principal: User,
  resource: Language,
  context: { approved: Bool, lane: String, now: datetime, launcher: String, mounts: Set<String>, network: Set<String>, packages: Set<String>, reach: Set<String>, newAgent: Bool },
};
`;
}

/** As Cedar quotes texts. */
function quoted(text: string): string {
  return `"${text.replace(/["\\\p{Cc}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`)}"`;
}
