import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Digest } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFileBlobs } from "./file-blobs.ts";

async function makeBlobs() {
  const folder = await mkdtemp(join(tmpdir(), "callgate-blobs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = async (): Promise<string[]> => (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return { folder, blobs: createFileBlobs({ folder }), files };
}

describe("createFileBlobs", () => {
  test("gives back the bytes that were put, whatever they are, under the SHA-256 of them", async () => {
    const { blobs } = await makeBlobs();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const digest = await blobs.put("acme", bytes);
        expect(new Uint8Array((await blobs.get("acme", digest)) ?? [])).toEqual(bytes);
      }),
      { numRuns: 30 },
    );
    expect(await blobs.put("acme", new Uint8Array())).toBe("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  test("keeps equal bytes once, also when they are put at once, and only for their owner to read", async () => {
    const { blobs, files } = await makeBlobs();
    const digests = await Promise.all(Array.from({ length: 8 }, () => blobs.put("acme", Buffer.from("same"))));
    expect(new Set(digests).size).toBe(1);
    const [file, ...others] = await files();
    expect(others).toEqual([]);
    expect((await stat(file ?? "")).mode & 0o777).toBe(0o600);
  });

  test("never shows a blob to another tenant, even with its digest", async () => {
    const { blobs } = await makeBlobs();
    const digest = await blobs.put("acme", Buffer.from("ours"));
    for (const tenant of ["rival", "", "acme/", "../acme", "acme\u0000", "\ud800"]) {
      expect(await blobs.get(tenant, digest)).toBeUndefined();
      await blobs.delete(tenant, digest);
    }
    expect(await blobs.get("acme", digest)).toEqual(Buffer.from("ours"));
  });

  test("out-007: takes nothing for a path that is no digest", async () => {
    const { blobs, folder } = await makeBlobs();
    await writeFile(join(folder, "outside"), "x");
    for (const digest of ["sha256:../../outside", "outside", "sha256:", `sha256:${"a".repeat(63)}\u0000`, `sha256:${"A".repeat(64)}`]) {
      expect(await blobs.get("acme", digest as Digest)).toBeUndefined();
      await blobs.delete("acme", digest as Digest);
    }
    expect(await readFile(join(folder, "outside"), "utf8")).toBe("x");
  });

  test("br-032: does not give out bytes that were changed", async () => {
    const { blobs, files } = await makeBlobs();
    const digest = await blobs.put("acme", Buffer.from("true"));
    await writeFile((await files())[0] ?? "", "fake");
    await expect(blobs.get("acme", digest)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
  });

  test("has nothing for a digest that is not there, and deleting it is no error", async () => {
    const { blobs } = await makeBlobs();
    const digest = await blobs.put("acme", Buffer.from("x"));
    await blobs.delete("acme", digest);
    await blobs.delete("acme", digest);
    expect(await blobs.get("acme", digest)).toBeUndefined();
  });

  test("says where it could not write, and leaves no half file", async () => {
    const { folder, blobs, files } = await makeBlobs();
    const digest = await blobs.put("acme", Buffer.from("x"));
    await blobs.delete("acme", digest);
    const tenantFolder = (await readdir(folder))[0] ?? "";
    await rm(join(folder, tenantFolder), { recursive: true });
    await writeFile(join(folder, tenantFolder), "in the way");
    await expect(blobs.put("acme", Buffer.from("x"))).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining(tenantFolder) });
    expect(await files()).toHaveLength(1);
  });

  test("sweeps what nobody names and nobody touched for a while", async () => {
    const { blobs, files } = await makeBlobs();
    const [named, old] = [await blobs.put("acme", Buffer.from("named")), await blobs.put("acme", Buffer.from("old"))];
    for (const file of await files()) await utimes(file, new Date(0), new Date(0));
    const fresh = await blobs.put("acme", Buffer.from("fresh"));
    const again = await blobs.put("acme", Buffer.from("old")); // Touched: in use again.
    expect(await blobs.sweep([{ tenant: "acme", digest: named }], 60_000)).toBe(0);
    for (const file of await files()) await utimes(file, new Date(0), new Date(0));
    expect(await blobs.sweep([{ tenant: "acme", digest: named }, { tenant: "acme", digest: fresh }], 60_000)).toBe(1);
    expect(again).toBe(old);
    expect(await blobs.get("acme", old)).toBeUndefined();
    expect(await blobs.get("acme", named)).toBeDefined();
  });

  test("has nothing to sweep in a folder that was never made", async () => {
    const { folder } = await makeBlobs();
    await mkdir(join(folder, "x"));
    expect(await createFileBlobs({ folder: join(folder, "x", "y") }).sweep([], 0)).toBe(0);
  });
});
