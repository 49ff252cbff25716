import { describe, expect, test } from "vitest";
import { readReferences } from "./secret-reader.ts";

const host = { env: { TOKEN: "first-secret", OTHER: "second-secret" }, folder: "/nowhere" };

describe("references among the settings of a source", () => {
  test("are read wherever they stand, and all of them are secrets", () => {
    const reader = readReferences({ app: "env:TOKEN", user: { kind: "basic", username: "me", password: "env:OTHER" } }, "openapi.shop.auth", host);
    expect([reader.read("env:TOKEN"), reader.read("env:OTHER")]).toEqual(["first-secret", "second-secret"]);
    expect([...reader.secrets].toSorted()).toEqual(["first-secret", "second-secret"]);
    expect(readReferences("env:TOKEN", "openapi.shop.auth", host).read("env:TOKEN")).toBe("first-secret");
    expect(readReferences(undefined, "openapi.shop.auth", host).secrets).toEqual([]);
  });

  test.each([
    ["env:GONE", "openapi.shop.auth refers to the environment variable GONE, which is not set"],
    [{ kind: "bearer", token: "env:GONE" }, "openapi.shop.auth.token refers to the environment variable GONE"],
    [{ app: { kind: "bearer", token: "file:gone.txt" } }, "openapi.shop.auth.app.token refers to the file gone.txt, which cannot be read"],
  ])("that lead nowhere are told with their place: %j", (settings, words) => {
    expect(() => readReferences(settings, "openapi.shop.auth", host)).toThrow(words);
  });

  test("that are none of these settings are not read", () => {
    expect(() => readReferences({ kind: "bearer", token: "env:TOKEN" }, "openapi.shop.auth", host).read("env:OTHER")).toThrow("openapi.shop.auth");
  });
});
