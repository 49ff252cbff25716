import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@callgate/contract";
import { afterAll, expect, test, vi } from "vitest";
import { stampOf } from "./file-stamp.ts";
import { watchParts } from "./watch-parts.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-openapi-watch-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A clock whose timers fire when told. */
function manualClock() {
  const due: { readonly delayMs: number; readonly fire: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    schedule: (delayMs, fire) => {
      const timer = { delayMs, fire };
      due.push(timer);
      return { cancel: () => void due.splice(due.indexOf(timer), due.includes(timer) ? 1 : 0) };
    },
  };
  return { clock, due, tick: () => due.splice(0).forEach(({ fire }) => fire()) };
}

test("a file that changed since it was read is told once, also where it changed before anybody looked", async () => {
  const file = join(folder, "a.yaml");
  writeFileSync(file, "1");
  const { clock, due, tick } = manualClock();
  const onChange = vi.fn<() => void>();
  const watch = watchParts({ clock, refreshMs: 1_000_000, onChange });
  watch.set([{ location: file, stamp: await stampOf(file) }]);
  tick();
  await vi.waitFor(() => expect(due).toHaveLength(1));
  expect(onChange).not.toHaveBeenCalled();
  writeFileSync(file, "22");
  tick();
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1));
  expect(due).toHaveLength(0);
});

test("a file that was missing is told when it comes", async () => {
  const file = join(folder, "late.yaml");
  const { clock, due, tick } = manualClock();
  const onChange = vi.fn<() => void>();
  watchParts({ clock, refreshMs: 1_000_000, onChange }).set([{ location: file, stamp: undefined }]);
  tick();
  await vi.waitFor(() => expect(due).toHaveLength(1));
  writeFileSync(file, "1");
  tick();
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1));
});

test("a URL may have changed after its time; nothing is told once the watch is closed", () => {
  const { clock, due, tick } = manualClock();
  const onChange = vi.fn<() => void>();
  const watch = watchParts({ clock, refreshMs: 60_000, onChange });
  watch.set([{ location: "https://a.example/api.json", stamp: "https://a.example/api.json" }]);
  expect(due.map(({ delayMs }) => delayMs)).toEqual([60_000]);
  watch.close();
  expect(due).toHaveLength(0);
  watch.set([{ location: "https://a.example/api.json", stamp: "x" }]);
  tick();
  expect(onChange).toHaveBeenCalledTimes(1);
});
