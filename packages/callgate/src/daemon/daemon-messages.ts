import { z } from "zod";

// What a command says to the process that clients share, as one line of JSON; the answer is one line. After `serve` the
// connection is an MCP client's standard input and output.

const said = { token: z.string() };

export const helloShape = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("serve"),
    ...said,
    /** On whose behalf the client acts, as the command's own options say it. */
    profile: z.string().optional(),
    principal: z.object({ user: z.string().optional(), tenant: z.string().optional(), roles: z.array(z.string()).optional() }),
  }),
  z.object({ kind: z.literal("status"), ...said }),
  z.object({ kind: z.literal("stop"), ...said }),
]);

export type Hello = z.infer<typeof helloShape>;

export type HelloAnswer = { readonly kind: "ok"; readonly clients: number } | { readonly kind: "refused"; readonly code: string; readonly message: string };

/** A first line is some hundred characters. */
export const maxHelloChars = 16 * 1024;
