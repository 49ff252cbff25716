import type { ServerQuestion } from "@callgate/contract";
import { visible } from "@callgate/runtime/text";

const maxLines = 30;

/**
 * A question of a server as the person in front of a client reads it. Whose it is stands before it and before every line of
 * it, so that it cannot pass for one of Callgate's (security mcp-006).
 */
export function serverQuestionMessage({ namespace, tool, message }: ServerQuestion): string {
  const name = visible(namespace);
  const lines = message.split(/\r\n|\n|\r/);
  const shown = lines.slice(0, maxLines).map((line) => `${name} | ${visible(line)}`);
  return [
    `The MCP server "${name}" asks you${tool === undefined ? "" : ` for its tool ${visible(tool)}`}. Callgate does not ask this: your answer goes to that server, and permits nothing.`,
    ...shown,
    ...(lines.length > maxLines ? [`${name} | … and ${lines.length - maxLines} more lines`] : []),
  ].join("\n");
}
