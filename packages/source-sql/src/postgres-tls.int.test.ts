import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { ToolError } from "@callgate/contract";
import { expect, test } from "vitest";
import { missingPostgres, startPostgres } from "../../journal-postgres/src/fixtures/private-postgres.ts";
import { callTool } from "./fixtures/call-context.ts";
import { createSqlSource } from "./sql-source.ts";

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

test.skipIf(missingPostgres() !== undefined)("PostgreSQL over TLS: in cipher with the authority of its certificate, and not at all where its certificate is nobody's known, or another host's", { timeout: 180_000 }, async () => {
  const server = await startPostgres({ fsync: false, tlsPort: await freePort() });
  try {
    await server.createDatabase("shop");
    const version = async (more: string, host = "127.0.0.1"): Promise<unknown> => {
      const source = createSqlSource({ namespace: "shop", url: `${server.tls?.url("shop").replace("127.0.0.1", host) ?? ""}${more}` });
      try {
        const { page: rows } = await callTool<{ readonly page: readonly { readonly version: string | null }[] }>(source, "query", { sql: "select version from pg_stat_ssl where pid = pg_backend_pid()" });
        return rows[0]?.version;
      } catch (error) {
        return (error as ToolError).code;
      } finally {
        await source.close();
      }
    };
    const root = `&sslrootcert=${encodeURIComponent(server.tls?.certificateFile ?? "")}`;
    expect(await version("?sslmode=disable")).toBeNull();
    expect(await version(`?sslmode=verify-full${root}`)).toMatch(/^TLSv1\.[23]$/);
    expect([await version("?sslmode=verify-full"), await version(`?sslmode=verify-full${root}`, "localhost")]).toEqual(["SOURCE_UNAVAILABLE", "SOURCE_UNAVAILABLE"]);
  } finally {
    await server.stop();
  }
});
