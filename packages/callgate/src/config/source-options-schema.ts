import type { SourceOptions } from "@callgate/contract";
import { z } from "zod";

const toolNames = z.array(z.string().min(1));

/** As in the declaration of a tool. */
const sidePointer = z.string().regex(/^\/(input|output)(\/|$)/, 'must be a JSON Pointer that starts with /input or /output, e.g. "/output/iban"');

const detectorSwitches = z.strictObject({ secret: z.boolean(), email: z.boolean(), phone: z.boolean(), card: z.boolean(), iban: z.boolean() }).partial();

/** Keys that every kind of source has in its block (`SourceOptions`), to be spread among its own. */
export const sourceOptionKeys = {
  disabled: z.boolean().optional(),
  namespace: z.string().min(1).optional().describe("Default: the source's key in this block"),
  purpose: z.string().optional().describe("One line for the model: what is behind it"),
  allow: toolNames.optional().describe('Only these of its tools exist, by name; * stands for any characters: ["get_*", "list_issues"]. An empty list: none. Default: all'),
  deny: toolNames.optional().describe('These do not exist, allowed or not: ["delete_*"]'),
  rename: z.record(z.string(), z.string().min(1)).optional().describe('Other names for tools: { "API-post-page": "create_page" }. All other keys go by the source\'s own names'),
  effects: z.record(z.string(), z.enum(["read", "write", "destructive"])).optional().describe('What a tool really does, by its name; wins over the source\'s own word: { "get_*": "read" }. Of several that match the later one wins, and a whole name over one with *'),
  labels: z.record(z.string(), z.array(z.string().min(1))).optional().describe('What comes with the answers of a tool, by its name; "*" for all of them: { "*": ["untrusted"], "send_mail": ["external"] }. See docs/guide/provenance.md'),
  sensitive: z.record(z.string(), z.array(sidePointer)).optional().describe('Values that are hashes in every record, by tool and JSON Pointer; "*" for all tools: { "get_customer": ["/output/birthday"], "*": ["/input/pin"] }'),
  detect: z.record(z.string(), z.record(sidePointer, detectorSwitches)).optional().describe('Detectors switched for a part of a tool\'s values: { "list_orders": { "/output/*/id": { "card": false } } }. See docs/guide/audit.md'),
  trusted: z.boolean().optional().describe("Believe the source's own word on which of its tools only read. Default false: all its tools count as write"),
};

type Configured = { readonly [Key in keyof typeof sourceOptionKeys]?: z.infer<(typeof sourceOptionKeys)[Key]> };

/** The part of a source's block that `shapeSource` takes. */
export function sourceOptionsOf({ purpose, allow, deny, rename, effects, labels, sensitive, detect, trusted }: Configured): SourceOptions {
  const options = { purpose, allow, deny, rename, effects, labels, sensitive, detect, trusted };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as SourceOptions;
}
