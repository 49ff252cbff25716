import type { Gate, NamespaceView, Principal } from "@callgate/contract";

/** The namespaces as one sees them to whom only some of the tools exist. */
export function shownNamespaces(gate: Gate, principal: Principal, allows: ((tool: string) => boolean) | undefined): readonly NamespaceView[] {
  const all = gate.namespaces({ principal });
  if (allows === undefined) return all;
  const counts = Map.groupBy(gate.tools({ principal }).filter(({ name }) => allows(name)), ({ namespace }) => namespace);
  return all.map((view) => ({ ...view, toolCount: counts.get(view.namespace)?.length ?? 0 }));
}
