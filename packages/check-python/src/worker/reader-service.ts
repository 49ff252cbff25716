import type { UnavailableNamespace } from "@callgate/contract";
import type { NamespaceMessage } from "@callgate/runtime/check-parts";
import { knownNamespace } from "../program/environment.ts";
import type { Environment, KnownNamespace } from "../program/environment.ts";
import { judge, readProgram } from "../program/judge.ts";
import type { Reading } from "../program/judge.ts";
import { standardLibrary } from "../program/standard-library.ts";
import type { ReaderAnswer, ReaderRequest, ReaderSettings } from "./messages.ts";

/** Answers one request after the other; holds one program between reading and judging it. Never throws. */
export function createReaderService({ pythonVersion, modules, functions }: ReaderSettings): (request: ReaderRequest) => ReaderAnswer {
  const always: ReadonlySet<string> = new Set([...standardLibrary(pythonVersion), ...modules, ...functions.map(({ module }) => module)]);
  const functionsBy = new Map(functions.map(({ module, text }) => [module, knownNamespace(module, text, new Map())]));
  const known = new Map<string, KnownNamespace>();
  let reading: Reading | undefined;

  const environmentOf = ({ namespaces: messages, unavailable, modules: more }: { readonly namespaces: readonly NamespaceMessage[]; readonly unavailable: readonly UnavailableNamespace[]; readonly modules: readonly string[] }): Environment => {
    for (const { key, namespace, load } of messages) if (load !== undefined) known.set(key, knownNamespace(namespace, load.text, new Map(load.tools)));
    return { functions: functionsBy, modules: more.length === 0 ? always : new Set([...always, ...more]), namespaces: new Map(messages.flatMap(({ key }) => known.get(key) ?? []).map((space) => [space.namespace, space])), unavailable: new Map(unavailable.map(({ namespace, message }) => [namespace, message])) };
  };

  return (request) => {
    const { id } = request;
    try {
      if (request.kind === "read") {
        reading = { ...readProgram(request.text, environmentOf(request)), ...(request.known === undefined ? {} : { known: new Set(request.known) }) };
        return { kind: "read", id, checkable: reading.checkable };
      }
      if (reading === undefined) return { kind: "fault", id, message: "nothing was read" };
      return { kind: "report", id, report: judge(reading, request.findings, request.lane) };
    } catch (thrown) {
      return { kind: "fault", id, message: thrown instanceof Error ? thrown.message : "unknown" };
    }
  };
}
