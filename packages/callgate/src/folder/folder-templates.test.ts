import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTools } from "@callgate/runtime/surface";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";
import { folderTemplates } from "./folder-templates.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-templates-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const refund = `---
when: A customer wants money back for an order
tools: [crm.find_order, crm.refund]
inputs:
  order_id: the number on the invoice
skeleton: |
  import { crm } from "tools";
  const order = await crm.find_order({ id: "{{order_id}}" });
  if (order.paid) await crm.refund({ id: order.id });
---
Never refund {{order_id}} twice.
`;

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name, "templates");
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

describe("folderTemplates", () => {
  test("reads front matter and text; other files, and a folder that is not there, are nothing", () => {
    const folder = folderOf("good", { "refund.md": refund, "README.md": "# Ours", "notes.txt": "x" });
    expect(folderTemplates(folder)).toEqual([
      { name: "refund", when: "A customer wants money back for an order", tools: ["crm.find_order", "crm.refund"], inputs: { order_id: "the number on the invoice" }, skeleton: expect.stringContaining('id: "{{order_id}}"') as string, text: "Never refund {{order_id}} twice." },
    ]);
    expect(folderTemplates(join(root, "none"))).toEqual([]);
  });

  test.each([
    ["no-head.md", "Just text", "templates/no-head.md:1: begins with no front matter"],
    ["no-tools.md", "---\nwhen: now\nskeleton: return 1\n---\n", "templates/no-tools.md:2: tools: "],
    ["bare.md", "---\nwhen: now\ntools:\n  - crm.find\n  - refund\nskeleton: return 1\n---\n", "templates/bare.md:5: tools.1: is a qualified name"],
    ["extra.md", "---\nwhen: now\ntools: [a.b]\nskeleton: return 1\nwhy: so\n---\n", 'templates/extra.md:2: front matter: Unrecognized key: "why"'],
    ["yaml.md", "---\nwhen: now\ntools: [a.b\nskeleton: return 1\n---\n", "templates/yaml.md:"],
    ["place.md", "---\nwhen: now\ntools: [a.b]\nskeleton: return {{id}}\n---\n\nText\n", "templates/place.md:4: {{id}} is none of inputs"],
    ["Big Name.md", "---\nwhen: now\ntools: [a.b]\nskeleton: return 1\n---\n", "templates/Big Name.md:1: the name"],
  ])("%s is refused at its line", (file, text, message) => {
    expect(() => folderTemplates(folderOf(file, { [file]: text }))).toThrow(message);
  });
});

test("a template is found with the tools that fit its task, by those who may call all of its tools", async () => {
  folderOf("shop", { "refund.md": refund });
  const crm = [
    defineTool({ name: "find_order", description: "Finds an order.", effect: "read", input: z.strictObject({ id: z.string() }), handler: ({ id }) => ({ id }) }),
    defineTool({ name: "refund", description: "Pays an order back.", effect: "write", input: z.strictObject({ id: z.string() }), handler: () => undefined }),
  ];
  const open = async (rules: NonNullable<Parameters<typeof createCallgate>[0]>["rules"], state: string) => await createCallgate({ folder: join(root, "shop"), stateFolder: join(root, state), templatesFolder: "templates", tools: { crm }, ...(rules === undefined ? {} : { rules }) });
  const gate = await open([{ allow: "*" }], "state-1");
  const search = (query: string) => findTools({ query, limit: 10, detail: "line" }, { gate, principal: gate.principal });
  const found = await search("give the customer money back");
  expect(found.text).toContain("Template refund: A customer wants money back for an order");
  expect(found.text).toContain("- {{order_id}}: the number on the invoice");
  expect(found.structured).toMatchObject({ templates: [{ name: "refund", tools: ["crm.find_order", "crm.refund"] }] });
  expect((await search("weather of tomorrow")).structured).not.toHaveProperty("templates");
  expect((await findTools({ query: "customer money back", limit: 10, detail: "line" }, { gate, principal: gate.principal, allows: (tool) => tool !== "crm.refund" })).structured).not.toHaveProperty("templates");
  await gate.close();

  const reader = await open([{ allow: "crm.find_order" }, { deny: "crm.refund" }], "state-2");
  expect(reader.templates()).toEqual([]);
  await reader.close();
});
