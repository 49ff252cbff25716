import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./database.ts";
import { missingPostgres, startPostgres } from "./fixtures/private-postgres.ts";
import type { PrivatePostgres } from "./fixtures/private-postgres.ts";
import { toJournalError } from "./postgres-error.ts";

const missing = missingPostgres();

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** What whoever opens a journal there is told. */
async function told(url: string): Promise<string> {
  const error: unknown = await openDatabase({ url, connections: 2, connectTimeoutMs: 300 }).then(() => "it was opened", (fault: unknown) => fault);
  expect(error).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
  const { message, details } = error as { readonly message: string; readonly details?: { readonly connection?: unknown } };
  // Nothing was asked for yet: no such error is tried again, and none leaves a doubt.
  expect(details?.connection).toBeUndefined();
  expect(message).not.toContain("the-password");
  return message;
}

describe("what a journal that cannot be opened says", () => {
  test("of a server that is down, of one that never answers, and of one without TLS: what is wrong and what to do", async () => {
    expect(await told("postgres://ann:the-password@127.0.0.1:1/journal")).toBe("The journal's PostgreSQL cannot be reached. Nothing of it was written; start the server, or check host and port of the URL that journal.postgres refers to (ECONNREFUSED)");
    expect(await told("postgres://ann:the-password@/journal?host=/nowhere")).toContain("cannot be reached");
    const silent = await listening(createServer((socket) => void socket.on("error", () => undefined)));
    expect(await told(`postgres://ann:the-password@127.0.0.1:${silent}/journal`)).toMatch(/did not answer in time.*check that the server is up/);
    const plain = await listening(createServer((socket) => void socket.on("error", () => undefined).once("data", () => socket.write("N"))));
    expect(await told(`postgres://ann:the-password@127.0.0.1:${plain}/journal?sslmode=require`)).toMatch(/offers no TLS.*sslmode/);
    expect(await told("postgres://ann:the-password@[/journal")).toMatch(/is no URL\. It looks like postgres:/);
  });

  test("of TLS that is not trusted, and of a server that is starting", () => {
    expect(toJournalError(Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" })).message).toMatch(/certificate that is not trusted here.*sslrootcert/);
    expect(toJournalError(Object.assign(new Error("the database system is starting up"), { code: "57P03" }))).toMatchObject({ message: expect.stringContaining("try again in a moment (SQLSTATE 57P03)") as string, details: { state: "57P03" } });
  });
});

describe.skipIf(missing !== undefined)(`what a server says that lets nobody in${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let server: PrivatePostgres;
  let url: string;

  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    url = await server.createDatabase("guarded");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("create role ann login password 'right'");
    // The file is the server's own: only it need know where that is.
    const [{ hba_file: file } = { hba_file: "" }] = (await client.query<{ hba_file: string }>("show hba_file")).rows;
    await client.query(`copy (values ('local all bob reject'), ('local all ann scram-sha-256'), ('local all all trust')) to '${file}'`);
    await client.query("select pg_reload_conf()");
    await client.end();
  }, 120_000);
  afterAll(async () => {
    await server.stop();
  });

  test.each([
    ["a wrong password", "ann:the-password@", "guarded", /refused the password of user "ann".*put the right user and password into the URL/],
    ["no password", "ann@", "guarded", /asks for a password.*put one into the URL/],
    ["a user that is turned away", "bob:the-password@", "guarded", /does not let user "bob" in.*pg_hba\.conf/],
    ["a user that is not there", "carol@", "guarded", /does not let user "carol" in/],
    ["a database that is not there", "postgres@", "nowhere", /has no database "nowhere".*createdb.*SQLSTATE 3D000/],
  ])("%s", async (_what, user, database, message) => {
    const asked = url.replace("postgres@", user).replace("/guarded", `/${database}`);
    // The server reads its new rules in its own time.
    for (let tries = 0; tries < 100; tries += 1) {
      const error = await openDatabase({ url: asked, connections: 1 }).then(async (opened) => await opened.close(), (fault: unknown) => fault);
      if (error !== undefined) break;
    }
    expect(await told(asked)).toMatch(message);
  });
});
