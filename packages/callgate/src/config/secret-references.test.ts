import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveReferences, resolveWords } from "./secret-references.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-secret-"));
writeFileSync(join(folder, "token"), "from-a-file\n");
const host = { env: { GH: "from-the-environment", CANARY_SECRET: "canary-7f3a" }, folder };

describe("resolveReferences", () => {
  test("replaces references and remembers what must not be shown", () => {
    const resolved = resolveReferences({ A: "env:GH", B: "file:token", C: "x-${GH}-${env:GH}", D: "plain", API_KEY: "written-out" }, "mcpServers.x.env", host);
    expect(resolved.values).toEqual({ A: "from-the-environment", B: "from-a-file", C: "x-from-the-environment-from-the-environment", D: "plain", API_KEY: "written-out" });
    expect(resolved.secrets).toEqual(["from-the-environment", "from-a-file", "x-from-the-environment-from-the-environment", "written-out"]);
  });

  test("names a variable that is not set", () => {
    expect(() => resolveReferences({ A: "env:NOPE" }, "mcpServers.x.env", host)).toThrow("mcpServers.x.env.A refers to the environment variable NOPE, which is not set");
  });

  test("names a file that cannot be read", () => {
    expect(() => resolveReferences({ A: "file:nope" }, "mcpServers.x.env", host)).toThrow("mcpServers.x.env.A refers to the file nope, which cannot be read");
  });

  test("takes what follows :- where a variable is not set or empty", () => {
    const { values } = resolveReferences({ A: "${NOPE:-info}", B: "${EMPTY:-x}/${GH:-y}" }, "mcpServers.x.env", { ...host, env: { ...host.env, EMPTY: "" } });
    expect(values).toEqual({ A: "info", B: "x/from-the-environment" });
  });
});

describe("resolveWords", () => {
  test("replaces variables in a command line and leaves words that look like other references alone", () => {
    const resolved = resolveWords(["--db", "file:./shop.db", "env:GH", "--token=${GH}", "$GH"], "mcpServers.x.args", host);
    expect(resolved.words).toEqual(["--db", "file:./shop.db", "env:GH", "--token=from-the-environment", "$GH"]);
    expect(resolved.secrets).toEqual(["from-the-environment"]);
  });

  test("names the place of a variable that is not set", () => {
    expect(() => resolveWords(["-y", "${NOPE}"], "mcpServers.x.args", host)).toThrow("mcpServers.x.args[1] refers to the environment variable NOPE, which is not set");
  });
});
