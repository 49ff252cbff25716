import { ToolError } from "@callgate/contract";
import { createCredentials } from "@callgate/http-client";
import type { AuthSpec, Credentials, CredentialsHost, HttpClient } from "@callgate/http-client";
import { isUrl } from "./document/document-reader.ts";
import type { HttpOperation, SecurityScheme } from "./http-operation.ts";
import type { OperationService } from "./request/call-operation.ts";

/**
 * How a service is told who calls: in full; in full for each security scheme of the document, by its name; or only the
 * reference to a secret, which is sent as the document says.
 */
export type OpenApiAuth = string | AuthSpec | Readonly<Record<string, AuthSpec | string>>;

export interface ServiceFinderOptions {
  readonly namespace: string;
  /** Absolute path or URL of the document. */
  readonly location: string;
  /** In place of what the document says. */
  readonly server?: string | undefined;
  readonly auth?: OpenApiAuth | undefined;
  readonly client: HttpClient;
  readonly credentialsHost: Omit<CredentialsHost, "origins">;
}

/** Finds where an operation is called, and with which credentials. */
export interface ServiceFinder {
  /** Throws `ToolError` where nobody says where its service is, or where its credentials may not go. */
  serviceOf(operation: HttpOperation, schemes: Readonly<Record<string, SecurityScheme>>): OperationService;
  /** What a person has to do before calls work again. */
  problem(): string | undefined;
}

export function createServiceFinder(options: ServiceFinderOptions): ServiceFinder {
  const kept = new Map<string, Credentials>();
  const credentialsOf = (specs: readonly AuthSpec[], origin: string): Credentials => {
    const key = JSON.stringify([origin, specs]);
    const known = kept.get(key) ?? createCredentials(specs, { ...options.credentialsHost, origins: [origin] });
    kept.set(key, known);
    return known;
  };
  return {
    serviceOf(operation, schemes) {
      const server = serverOf(operation, options);
      const specs = authOf(operation, schemes, options.auth);
      if (specs.length === 0) return { client: options.client, server };
      refuseStrangeServer(server, options);
      return { client: options.client, server, credentials: credentialsOf(specs, server.origin) };
    },
    problem: () => [...kept.values()].map((one) => one.problem()).find((problem) => problem !== undefined),
  };
}

function serverOf({ servers }: HttpOperation, { namespace, location, server }: ServiceFinderOptions): URL {
  const [first] = servers;
  const url = URL.parse(server ?? first ?? "/", isUrl(location) ? location : undefined);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  const said = first === undefined ? "its document names none" : `its document says "${first}", which is no address`;
  throw new ToolError({ code: "SERVER_UNKNOWN", message: `Nobody says where the service of ${namespace} is: ${said}. A person sets "server" for it in the configuration`, notApplied: true });
}

/**
 * A document that came from a URL may be changed by whoever serves it. Its word on where the service is is not enough to
 * send a secret there.
 */
function refuseStrangeServer(url: URL, { namespace, location, server }: ServiceFinderOptions): void {
  if (server !== undefined || !isUrl(location) || new URL(location).origin === url.origin) return;
  throw new ToolError({ code: "AUTH_NEEDED", message: `Only the document of ${namespace} says that its service is at ${url.origin}, and the document is from elsewhere: credentials are not sent there. If it is right, a person sets "server": "${url.origin}" for it in the configuration`, notApplied: true });
}

/** The specs that are sent together for an operation: those of the first alternative of its security that are all there. */
function authOf({ security }: HttpOperation, schemes: Readonly<Record<string, SecurityScheme>>, auth: OpenApiAuth | undefined): readonly AuthSpec[] {
  if (auth === undefined) return [];
  if (isSpec(auth)) return [auth];
  const asDeclared = (name: string, reference: string): AuthSpec => specOf(schemes[name], reference);
  if (typeof auth === "string") {
    const [name] = [...security.filter((needs) => needs.length === 1).flat().map(({ scheme }) => scheme), ...Object.keys(schemes)].filter((scheme) => Object.hasOwn(schemes, scheme));
    return [asDeclared(name ?? "", auth)];
  }
  const complete = security.find((needs) => needs.length > 0 && needs.every(({ scheme }) => Object.hasOwn(auth, scheme)));
  return (complete ?? []).map(({ scheme }) => {
    const given = auth[scheme] ?? "";
    return typeof given === "string" ? asDeclared(scheme, given) : given;
  });
}

function isSpec(auth: OpenApiAuth): auth is AuthSpec {
  return typeof auth === "object" && typeof (auth as { readonly kind?: unknown }).kind === "string";
}

/** A secret as its scheme wants it sent; a bearer token where the document says nothing that one secret suffices for. */
function specOf(scheme: SecurityScheme | undefined, reference: string): AuthSpec {
  return scheme?.type === "apiKey" ? { kind: "apiKey", in: scheme.in, name: scheme.name, value: reference } : { kind: "bearer", token: reference };
}
