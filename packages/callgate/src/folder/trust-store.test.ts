import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTrustStore } from "./trust-store.ts";

function setUp() {
  const root = mkdtempSync(join(tmpdir(), "callgate-trust-"));
  const folder = join(root, "project");
  mkdirSync(join(folder, "tools"), { recursive: true });
  return { root, folder, state: join(root, "state") };
}

describe("createTrustStore", () => {
  test("trusts nothing at first", () => {
    const { folder, state } = setUp();
    expect(createTrustStore(state).has(folder)).toBe(false);
  });

  test("trusts a folder and what is below it, in the next process too", () => {
    const { folder, state } = setUp();
    createTrustStore(state).add(folder);
    expect(createTrustStore(state).has(folder)).toBe(true);
    expect(createTrustStore(state).has(join(folder, "tools"))).toBe(true);
  });

  test("does not trust a sibling whose name begins alike", () => {
    const { root, folder, state } = setUp();
    mkdirSync(`${folder}-evil`);
    createTrustStore(state).add(folder);
    expect(createTrustStore(state).has(`${folder}-evil`)).toBe(false);
    expect(createTrustStore(state).has(root)).toBe(false);
  });

  test("sees through a link that leads out of a trusted folder", () => {
    const { root, folder, state } = setUp();
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(folder, "link"));
    createTrustStore(state).add(folder);
    expect(createTrustStore(state).has(join(folder, "link"))).toBe(false);
  });

  test("takes trust back", () => {
    const { folder, state } = setUp();
    const store = createTrustStore(state);
    store.add(folder);
    expect([store.remove(folder), store.has(folder), store.remove(folder)]).toEqual([true, false, false]);
  });

  test("keeps its file from other users", () => {
    const { folder, state } = setUp();
    createTrustStore(state, () => new Date(0)).add(folder);
    expect(statSync(join(state, "trust.json")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(state, "trust.json"), "utf8"))).toMatchObject({ folders: [{ trustedAt: "1970-01-01T00:00:00.000Z" }] });
  });

  test("trusts nothing when its file is damaged, and says so", () => {
    const { folder, state } = setUp();
    mkdirSync(state);
    writeFileSync(join(state, "trust.json"), '{"folders": "all"}');
    expect(() => createTrustStore(state).has(folder)).toThrow("trust.json is damaged, so no folder is trusted");
  });
});
