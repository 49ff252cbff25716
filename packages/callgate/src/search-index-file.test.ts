import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createSearchIndexFile } from "./search-index-file.ts";

describe("createSearchIndexFile", () => {
  const folders: string[] = [];
  const fresh = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-index-"));
    folders.push(folder);
    return folder;
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  test("keeps what was written, for its user alone, apart for each configuration", () => {
    const stateFolder = fresh();
    const store = createSearchIndexFile({ stateFolder, folder: "/a" });
    expect(store.read()).toBeUndefined();
    store.write(new Uint8Array([1, 2, 3]));
    expect([...(createSearchIndexFile({ stateFolder, folder: "/a" }).read() ?? [])]).toEqual([1, 2, 3]);
    expect(createSearchIndexFile({ stateFolder, folder: "/b" }).read()).toBeUndefined();
    const place = join(stateFolder, "search-index");
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(readdirSync(place).map((name) => statSync(join(place, name)).mode & 0o777)).toEqual([0o600]);
  });

  test("tells what it cannot write and what is damaged, and throws nothing", () => {
    const stateFolder = fresh();
    const said: string[] = [];
    const store = createSearchIndexFile({ stateFolder, folder: "/a", onFault: (fault) => void said.push(String(fault)) });
    writeFileSync(join(stateFolder, "search-index"), "a file where the folder should be");
    store.write(new Uint8Array([1]));
    store.damaged("it is no search index");
    expect(said).toHaveLength(2);
    expect(said[1]).toMatch(/The search index .* cannot be used, and is made again: it is no search index/);
  });
});
