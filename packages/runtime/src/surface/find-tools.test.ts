import { localPrincipal } from "@callgate/contract";
import { afterEach, describe, expect, test } from "vitest";
import { createTestGate } from "../run/fixtures/test-gate.ts";
import { describeTools, findTools } from "./find-tools.ts";

describe("findTools for a client to whom only some of the tools exist", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test("the others take no place, are no near name, and their namespaces are not told", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `find_page_${String(index).padStart(2, "0")}`);
    const { gate } = await createTestGate(names.map((name) => ({ name, handler: () => null })));
    closing.push(() => gate.close());
    const [all, namespace] = [gate.tools().map((tool) => tool.name), gate.tools()[0]?.namespace ?? ""];
    const last = all.at(-1) ?? "";
    const finder = { gate, principal: localPrincipal, allows: (tool: string) => tool === last };
    expect((await findTools({ query: "find page", limit: 3, detail: "name" }, finder)).text).toBe(last);
    expect(describeTools({ names: [`${last}x`] }, finder).structured["unknown"]).toEqual([{ name: `${last}x`, nearest: [last] }]);
    expect(await findTools({ query: "find page", limit: 3, detail: "namespace" }, finder)).toMatchObject({ text: `${namespace} (1)`, structured: { namespaces: [{ namespace, toolCount: 1 }] } });
    const none = { ...finder, allows: () => false };
    expect((await findTools({ query: "find page", limit: 3, detail: "name" }, none)).text).not.toContain(`Namespaces: ${namespace}`);
  });

  test("programs ask for namespaces first, too", async () => {
    const { gate } = await createTestGate([{ name: "find_page", handler: () => null }, { name: "drop_page", handler: () => null }]);
    closing.push(() => gate.close());
    const found = await gate.run('return [await tools.search("pages", { detail: "namespace" }), await tools.search("", { detail: "namespace" }), await tools.search("pages", { detail: "all" as any }).catch((error) => error.message)]');
    expect(found.value).toMatchObject({ value: [[{ namespace: "t", toolCount: 2 }], [{ namespace: "t", toolCount: 2 }], '"detail" must be "namespace", "name", "line", "signature" or "full"'] });
  });
});
