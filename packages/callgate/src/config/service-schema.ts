import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

/** A setting that is only named here. */
const secret = z.string().regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as env:API_TOKEN: a secret does not belong into this file");
const url = z.string().regex(/^https?:\/\//, "must begin with http:// or https://");

/** How a service is told who calls, as `AuthSpec` of the HTTP client. */
const authSpec = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("apiKey"), in: z.enum(["header", "query", "cookie"]), name: z.string().min(1), value: secret }),
  z.strictObject({ kind: z.literal("basic"), username: z.string(), password: secret }),
  z.strictObject({ kind: z.literal("bearer"), token: secret }),
  z.strictObject({
    kind: z.literal("oauth2"),
    grant: z.enum(["client_credentials", "refresh_token"]),
    tokenUrl: url,
    clientId: z.string().min(1),
    clientSecret: secret.optional(),
    refreshToken: secret.optional(),
    scopes: z.array(z.string()).optional(),
    audience: z.string().optional(),
    resource: z.string().optional(),
    clientAuth: z.enum(["basic", "post"]).optional(),
  }),
]);

const callTimeout = z.int().positive().max(86_400_000).optional().describe("Deadline of one call. Default 60,000");

export const openapiSchema = z.strictObject({
  document: z.string().min(1).describe("File or URL of the document: OpenAPI 3.0, 3.1 or Swagger 2, JSON or YAML"),
  server: url.optional().describe("Where the service is, in place of what the document says. An address written here may be on this machine or in a private network"),
  auth: z
    .union([secret, authSpec, z.record(z.string(), z.union([secret, authSpec]))])
    .optional()
    .describe('How the service is told who calls: a reference alone, sent as the document says ("env:API_TOKEN"); in full ({ "kind": "basic", "username": "me", "password": "env:PASSWORD" }); or each by the name of a security scheme of the document'),
  refreshHours: z.number().positive().optional().describe("How old a document from a URL may get before it is read again. Default 24"),
  timeoutMs: callTimeout,
  ...sourceOptionKeys,
});

export const graphqlSchema = z.strictObject({
  endpoint: url.describe("Where queries are posted to. An address written here may be on this machine or in a private network"),
  schema: z.string().min(1).optional().describe("File of the schema: SDL, or the JSON of an introspection. Default: the service is asked"),
  auth: authSpec.or(secret).optional().describe('How the service is told who calls: a bearer token by reference ("env:API_TOKEN"), or in full'),
  depth: z.int().min(1).max(5).optional().describe("Levels of objects within objects that a call asks for by itself. Default 2"),
  refreshHours: z.number().positive().optional().describe("How old the schema that the service told may get before it is asked again. Default 24"),
  timeoutMs: callTimeout,
  ...sourceOptionKeys,
});

export type OpenApiConfig = z.infer<typeof openapiSchema>;
export type GraphqlConfig = z.infer<typeof graphqlSchema>;
