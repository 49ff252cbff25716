import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

/** Keys that other MCP clients write and that mean nothing here; accepted so that a block can be pasted as it is. */
const foreignKeys = {
  alwaysAllow: z.unknown().optional(),
  autoApprove: z.unknown().optional(),
  description: z.string().optional(),
  timeout: z.number().optional(),
  icon: z.string().optional(),
};

export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).optional().describe("Program to start; the server speaks MCP over its standard input and output"),
    args: z.array(z.string()).optional().describe('"${NAME}" in them is replaced by that variable of the environment, "${NAME:-otherwise}" also where there is none'),
    env: z.record(z.string(), z.string()).optional().describe('Environment of the server. "env:NAME", "file:PATH" and "keychain:SERVICE/ACCOUNT" are references to secrets; "${NAME}" is replaced'),
    cwd: z.string().optional(),
    url: z.string().regex(/^(https?:\/\/|env:|file:|keychain:|\$\{)/, "must begin with http:// or https://, or be a reference such as env:NAME").optional().describe("Where a server is reached that speaks MCP over HTTP. A reference, or with ${NAME} in it, where a part of it is secret"),
    headers: z.record(z.string(), z.string()).optional().describe('Sent with every request to url: { "Authorization": "Bearer ${GITHUB_TOKEN}" }. "env:NAME", "file:PATH" and "keychain:SERVICE/ACCOUNT" are references to secrets'),
    type: z.string().optional().describe('How url is spoken to: "http" (Streamable HTTP) or "sse" (before 2025-03-26). Default: the newer one, then the older where the server refuses that'),
    transport: z.string().optional().describe("The same as type, as some clients write it"),
    oauth: z
      .strictObject({
        grant: z.enum(["authorization_code", "client_credentials"]).optional().describe('"client_credentials": for a client that acts for itself, with clientId and clientSecret or privateKey. Default: a person signs in'),
        clientId: z.string().min(1).optional().describe("A client that was registered with the authorization server. Default: Callgate registers itself, or is known by clientMetadataUrl"),
        clientSecret: z.string().regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as env:CLIENT_SECRET: a secret does not belong into this file").optional().describe("Its secret, a reference"),
        privateKey: z.string().regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as file:client.pem: a key does not belong into this file").optional().describe("In place of the secret: a private key in PEM, a reference"),
        algorithm: z.string().min(1).optional().describe("What privateKey signs with. Default ES256"),
        issuer: z.string().regex(/^https?:\/\//, "must be a URL").optional().describe("The authorization server, where the MCP server does not name it itself (no protected-resource metadata). What the server says of itself comes after this"),
        clientMetadataUrl: z.string().startsWith("https://").optional().describe("Where a client ID metadata document is served that stands for this client"),
        scopes: z.array(z.string().min(1)).optional().describe("Default: what the server asks for"),
        origins: z.array(z.string().min(1)).optional().describe("Other origins of a private network that take part in signing in, such as https://sso.corp.example: without it only public addresses are asked"),
      })
      .optional()
      .describe("How callgate auth login signs in where url wants that"),
    ...sourceOptionKeys,
    connectTimeoutMs: z.int().positive().optional(),
    timeoutMs: z.int().positive().optional().describe("Deadline of one call"),
    idleTimeoutMs: z.int().positive().optional().describe("How long it may be silent during a call: no answer, no progress. Default: until the deadline"),
    elicitation: z.boolean().optional().describe("Passes its questions (elicitation) on to the person at the terminal or in front of the MCP client, as the server's own. Default false: they are refused"),
    unsafeWithoutPins: z.boolean().optional().describe("Takes every list of tools as it comes, also one that has changed since it was first used. Default false: what changes is held until approved (callgate pins)"),
    ...foreignKeys,
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), { error: "needs either command or url" });

export type McpServerConfig = z.infer<typeof mcpServerSchema>;
