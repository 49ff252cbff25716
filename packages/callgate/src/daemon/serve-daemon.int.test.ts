import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CallgateError } from "@callgate/contract";
import type { StdioStreams } from "@callgate/mcp-server";
import { expect, onTestFinished, test } from "vitest";
import { completePrincipal } from "../principal-input.ts";
import { connectDaemon } from "./daemon-client.ts";
import type { DaemonRecord } from "./daemon-records.ts";
import { serveDaemon } from "./serve-daemon.ts";

/** A daemon whose server only says whom it serves, and what it was sent. */
async function world(idleMs: number) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-"));
  const record: DaemonRecord = { daemonId: "d", socket: process.platform === "win32" ? `\\\\.\\pipe\\callgate-test-${process.pid}` : join(folder, "d.sock"), token: "t".repeat(32), pid: process.pid, folder, startedAtMs: 0, idleMs };
  const serveStdio = ({ stdin, stdout, principal }: StdioStreams) => {
    const closed = (async () => {
      let got = "";
      for await (const part of stdin ?? []) got += String(part);
      stdout?.write(`${principal?.user ?? ""}: ${got}`);
    })();
    return { closed, close: () => Promise.resolve() };
  };
  const daemon = await serveDaemon({
    record,
    server: { serveStdio },
    principalOf: ({ profile, principal }) => {
      if (profile !== undefined) throw new CallgateError("CONFIG_INVALID", `There is no profile "${profile}"`);
      return completePrincipal(principal);
    },
    onFault: () => undefined,
  });
  onTestFinished(async () => {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { record, daemon };
}

test("each connection is a client of its own, who acts as it said, and the process ends once it has had none for a while", async () => {
  const { record, daemon } = await world(300);
  const ann = await connectDaemon(record, { kind: "serve", principal: { user: "ann" } });
  const bob = await connectDaemon(record, { kind: "serve", principal: { user: "bob" } });
  expect([ann?.clients, bob?.clients]).toEqual([1, 2]);
  const told = [ann, bob].map(async (one, index) => {
    one?.socket.end(`hello ${index}`);
    return one === undefined ? "" : await text(one.socket);
  });
  expect(await Promise.all(told)).toEqual(["ann: hello 0", "bob: hello 1"]);
  expect(await daemon.ended).toBe("idle");
});

test("nobody is served who does not know the token or names a profile that is not there, and it stops when it is told to", async () => {
  const { record, daemon } = await world(60_000);
  await expect(connectDaemon({ ...record, token: "guess" }, { kind: "serve", principal: {} })).rejects.toMatchObject({ code: "USAGE" });
  await expect(connectDaemon({ ...record, token: "guess" }, { kind: "stop" })).rejects.toMatchObject({ code: "USAGE" });
  await expect(connectDaemon(record, { kind: "serve", profile: "nobody", principal: {} })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("nobody") as string });
  expect((await connectDaemon(record, { kind: "status" }))?.clients).toBe(0);
  await connectDaemon(record, { kind: "stop" });
  expect(await daemon.ended).toBe("stopped");
  await daemon.close();
  expect(await connectDaemon(record, { kind: "status" })).toBeUndefined();
});
