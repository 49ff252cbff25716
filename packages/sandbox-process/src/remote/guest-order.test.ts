import { describe, expect, test } from "vitest";
import { orderOf, parseGuestOrder } from "./guest-order.ts";

const bounds = { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 64, openFiles: 32 };
const spec = { command: ["ruby", "{file}"], environment: { MODE: "x" }, bounds, mounts: [{ host: "/data", guest: "/data", mode: "ro" as const }] };
const crossed = (order: object): unknown => parseGuestOrder(JSON.parse(JSON.stringify(order)));

describe("parseGuestOrder", () => {
  test.each(["typescript", "node", "shell", "ruby", "objective-c"])("an order names its language, on which the server's image depends: %s", (language) => {
    expect(crossed(orderOf({ ...spec, language }))).toEqual({ ...spec, language });
  });

  test("an order without a language has none", () => {
    expect(crossed(orderOf(spec))).toEqual(spec);
  });

  test.each([[""], ["Ruby"], ["a/b"], ["x".repeat(65)], [7], [null], [["ruby"]]])("a language that can be none is refused: %j", (language) => {
    expect(() => crossed({ ...orderOf(spec), language })).toThrow('an order has no good "language"');
  });
});
