import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createVariableNames } from "./needed-variables.ts";
import { secretInShellText, withoutSecrets } from "./without-secrets.ts";
import type { WrittenServer } from "./written-server.ts";

function written(server: WrittenServer): WrittenServer {
  return withoutSecrets(server, { owner: "srv", where: "mcp.json", names: createVariableNames({}) });
}

describe("withoutSecrets", () => {
  test.each([
    [["-k", "k9fJ2mXq81LpZtR4vB7nQe", "-p", "hunter2pw"], ["-k", "${SRV_K}", "-p", "${SRV_P}"]],
    [["9fJ2mXq81LpZtR4vB7nQeAAbb12"], ["${SRV_ARGUMENT}"]],
    [["--mode=9fJ2mXq81LpZtR4v"], ["--mode=${SRV_MODE}"]],
    [["Server=db;Password=abc"], ["${SRV_ARGUMENT}"]],
    [["${A}9fJ2mXq81LpZtR4v"], ["${SRV_ARGUMENT}"]],
    [["run", "-e", "LICENSE=abc", "-e", "LEVEL=debug"], ["run", "-e", "LICENSE=${SRV_LICENSE}", "-e", "LEVEL=debug"]],
  ])("arguments %j are written %j", (args, expected) => expect(written({ command: "srv", args }).args).toEqual(expected));

  test.each<[string, readonly string[]]>([
    ["npx", ["-y", "@modelcontextprotocol/server-filesystem@2025.8.21", "/home/me/docs", "."]],
    ["npx", ["-y", "figma2code@latest", "--port", "8080", "-v"]],
    ["python3.11", ["-m", "my_server2", "-c", "./config.toml", "-p", "8080"]],
    ["docker", ["run", "-i", "--rm", "-e", "S3_REGION", "-v", "/data:/data:ro", "ghcr.io/github/github-mcp-server:v0.3.1"]],
    ["uvx", ["mcp-server-fetch==2025.4.7", "--user-agent", "me", "https://api.example.com/v1"]],
  ])("%s %j is left as it is", (command, args) => expect(written({ command, args }).args).toEqual(args));

  test("what an environment holds becomes a reference unless it is plainly harmless, defaults of placeholders too", () => {
    const env = { LICENSE: "9fJ2mXq81LpZtR4v", LICENSE2: "ABCD-EFGH-1234-9876", DB_PIN: "938271", PIN: "123456", TOKEN: "${TOKEN:-9fJ2mXq81LpZtR4v}", LEVEL: "${LEVEL:-debug}", DEBUG: "true", PORT: "8080", DIR: "/data" };
    expect(written({ command: "srv", env }).env).toEqual({ LICENSE: "env:LICENSE", LICENSE2: "env:LICENSE2", DB_PIN: "env:DB_PIN", PIN: "env:PIN", TOKEN: "env:TOKEN", LEVEL: "${LEVEL:-debug}", DEBUG: "true", PORT: "8080", DIR: "/data" });
  });

  test("random keys never stand in what is written, wherever they are in env and args", () => {
    const token = fc.tuple(fc.nat(), fc.integer({ min: 12, max: 32 }), fc.constantFrom("base64", "base64url", "hex", "uuid")).map(([seed, bytes, form]) => {
      const random = createHash("sha256").update(String(seed)).digest().subarray(0, bytes);
      const hex = random.toString("hex").padEnd(32, "7");
      return form === "uuid" ? `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}` : random.toString(form as BufferEncoding);
    });
    const places: readonly ((key: string) => WrittenServer)[] = [
      (key) => ({ command: "srv", env: { VALUE: key } }),
      (key) => ({ command: "srv", env: { VALUE: `\${OTHER}${key}` } }),
      (key) => ({ command: "srv", env: { VALUE: `https://x.example/${encodeURIComponent(key)}` } }),
      (key) => ({ command: "srv", args: [key] }),
      (key) => ({ command: "srv", args: ["-k", key, "more"] }),
      (key) => ({ command: "srv", args: ["--thing", key] }),
      (key) => ({ command: "srv", args: [`--thing=${key}`] }),
      (key) => ({ command: "srv", args: [`{"thing":"${key}"}`] }),
      (key) => ({ command: "srv", args: [`https://x.example/mcp/${encodeURIComponent(key)}/sse`] }),
    ];
    fc.assert(
      fc.property(token, fc.constantFrom(...places), (key, place) => {
        expect(JSON.stringify(written(place(key)))).not.toContain(key);
      }),
      // What is random may by chance be words: one seed, so that it is the same chance each time.
      { numRuns: 500, seed: 1 },
    );
  });
});

test.each<[WrittenServer, string | undefined]>([
  [{ command: "sh", args: ["-c", "export TOKEN=w3fJ2mXq81Lp; srv --password w4fJ2mXq81Lp"] }, "TOKEN=…"],
  [{ command: "bash", args: ["-c", "API_KEY=SECRETFFF1234567 exec mcp-server-everything --pw SECRETGGG"] }, "API_KEY=…"],
  [{ command: "TOKEN=w5fJ2mXq81Lp srv" }, "TOKEN=…"],
  [{ command: "/bin/bash", args: ["-lc", "srv --password w4f"] }, "--password …"],
  [{ command: "cmd.exe", args: ["/c", "srv -p hunter2pw"] }, "-p …"],
  [{ command: "docker", args: ["run", "image", "sh", "-c", 'curl -H "Authorization: Bearer abc" x'] }, "-H …"],
  [{ command: "sh", args: ["-c", "cd /srv && NODE_ENV=production exec node server.js --port 8080"] }, undefined],
  [{ command: "sh", args: ["-c", "TOKEN=$OTHER exec srv --api-key ${env:KEY}"] }, undefined],
  [{ command: "/Applications/My App/server" }, undefined],
  [{ command: "npx", args: ["-y", "thing", "--header", "Authorization: Bearer x"] }, undefined],
])("%j, read by a shell: %j", (server, found) => expect(secretInShellText(server)).toBe(found));
