import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAuthServer } from "../../../source-mcp/src/fixtures/auth-server.ts";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";

test("a person signs in at a server, the token is kept encrypted and used, and is gone after signing out", { timeout: 600_000 }, async () => {
  const server = await startAuthServer();
  onTestFinished(() => server.close());
  const config = { mcpServers: { notes: { url: server.url, effects: { whoami: "read" } } } };
  const { folder, env, root } = createCliProject({ "callgate.jsonc": JSON.stringify(config) }, {});
  const callgate = (words: readonly string[], onErr: (text: string) => void = () => undefined) =>
    new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
      const child = spawn(process.execPath, [callgateBin, "--trust", ...words], { cwd: folder, env });
      const out = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (part: string) => (out.stdout += part));
      child.stderr.setEncoding("utf8").on("data", (part: string) => {
        out.stderr += part;
        onErr(out.stderr);
      });
      child.once("close", (status) => resolve({ status, ...out }));
    });
  expect(await callgate(["sources", "ls"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/notes\s+mcp\s+sign-in needed/) });
  let followed = false;
  const login = await callgate(["auth", "login", "notes", "--no-browser"], (text) => {
    const page = /^ {2}(http\S+)$/m.exec(text)?.[1];
    if (page === undefined || followed) return;
    followed = true;
    server.follow(new URL(page)).catch(() => undefined);
  });
  expect(login).toMatchObject({ status: 0, stdout: expect.stringMatching(new RegExp(`^notes: signed in at ${server.issuer}, until .*Z; it is renewed by itself\n$`)) });
  const token = [...server.validTokens][0] ?? "none";
  const called = await callgate(["call", "notes.whoami"]);
  expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining(token.slice(0, 8)) });
  expect(JSON.parse((await callgate(["--json", "auth", "ls"])).stdout)).toMatchObject([{ source: "notes", state: "signed_in", issuer: server.issuer, scopes: "mcp:read" }]);
  // No file of the user holds it in clear.
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.includes("sign-ins"))).toBe(true);
  expect(files.filter((file) => readFileSync(file).includes(token))).toEqual([]);
  expect(await callgate(["auth", "logout", "notes"])).toMatchObject({ status: 0, stdout: "notes: signed out, and the authorization server was told\n" });
  expect(await callgate(["call", "notes.whoami"])).toMatchObject({ status: 1, stderr: expect.stringContaining("callgate auth login notes") });
});
