import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

/** Keys that other MCP clients write and that mean nothing here; accepted so that a block can be pasted as it is. */
const foreignKeys = {
  type: z.string().optional(),
  transport: z.string().optional(),
  alwaysAllow: z.unknown().optional(),
  autoApprove: z.unknown().optional(),
  description: z.string().optional(),
  timeout: z.number().optional(),
  icon: z.string().optional(),
};

export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).optional().describe("Program to start; the server speaks MCP over its standard input and output"),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional().describe('Environment of the server. "env:NAME" and "file:PATH" are references to secrets; "${NAME}" is replaced'),
    cwd: z.string().optional(),
    url: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    ...sourceOptionKeys,
    connectTimeoutMs: z.int().positive().optional(),
    timeoutMs: z.int().positive().optional().describe("Deadline of one call"),
    ...foreignKeys,
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), { error: "needs either command or url" });

export type McpServerConfig = z.infer<typeof mcpServerSchema>;
