import { localPrincipal } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createFakeGate, namespaceView } from "./fixtures/fake-gate.ts";
import { surfaceText } from "@callgate/runtime/surface";

describe("surfaceText", () => {
  test("code-mode 16: names what is behind it, and shows the types of a small catalog", () => {
    const gate = createFakeGate({ namespaces: [namespaceView("github", 117, "Issues and pull requests"), namespaceView("empty", 0)], declarations: 'declare module "tools/github" {}' });
    const { descriptions, inlined, instructions } = surfaceText(gate, localPrincipal);
    expect(inlined).toBe(true);
    expect(descriptions.search_tools).toContain("- github (117): Issues and pull requests");
    expect(descriptions.execute_code).toContain('declare module "tools/github"');
    expect(instructions).toContain("117 tools in github (117)");
    // Said once: in the instructions once, the purpose in one description, the names in none beside the types.
    expect(instructions.match(/117 tools/g)?.length).toBe(1);
    expect(JSON.stringify({ descriptions, instructions }).match(/Issues and pull requests/g)?.length).toBe(1);
    expect(descriptions.execute_code).not.toContain("117");
    expect(descriptions.execute_code).not.toContain("empty");
  });

  test("P16: does not grow with the number of tools and namespaces", () => {
    const many = createFakeGate({ namespaces: Array.from({ length: 500 }, (_, index) => namespaceView(`ns${index}`, 1000, "p".repeat(500))), declarations: "x".repeat(1_000_000) });
    const { descriptions, inlined } = surfaceText(many, localPrincipal);
    expect(inlined).toBe(false);
    expect(descriptions.execute_code).toContain("and 460 more namespaces");
    expect(JSON.stringify(descriptions).length).toBeLessThan(20_000);
  });

  test("says that a namespace is down, and that nothing is there", () => {
    const down = createFakeGate({ namespaces: [{ ...namespaceView("db", 3), state: { kind: "down", reason: "gone" } }] });
    expect(surfaceText(down, localPrincipal).descriptions.search_tools).toContain("- db (3) [down]");
    expect(surfaceText(createFakeGate(), localPrincipal).descriptions.search_tools).toContain("No tools are behind it yet");
  });
});
