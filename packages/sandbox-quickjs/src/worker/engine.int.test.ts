import { createHash } from "node:crypto";
import { defaultLimits } from "@callgate/contract";
import { programText } from "@callgate/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadEngine } from "../host/engine-file.ts";
import type { PreparedEngine } from "./engine.ts";
import { createEngines } from "./engine.ts";
import { createGuest } from "./guest.ts";

const modules = '[{"namespace":"demo","tools":["echo"]}]';
const module = loadEngine();
const hashOf = ({ instance }: PreparedEngine): string => createHash("sha256").update(instance.bytes().subarray(0, 16 * 1024 * 1024)).digest("hex");

/** Pieces of programs that dirty an engine in different ways; any may follow any. */
const pieces = [
  "globalThis.leak = { deep: [1, 2, 3] };",
  "Object.prototype.leak = 1; Array.prototype.map = null;",
  "tools.demo.echo({ n: Math.random() }); setTimeout(() => {}, 5);",
  "new Promise(() => {}); Promise.reject(new Error('x')).catch(() => {});",
  "const big = []; for (let i = 0; i < 5000; i++) big.push({ i, text: 'x'.repeat(i % 50) });",
  "try { (function f() { f() })() } catch {}",
  "try { 'x'.repeat(1 << 29) + 'y'.repeat(1 << 29) } catch {}",
  "try { JSON.parse('['.repeat(1e5)) } catch {}",
  "new RegExp('(a|b)*c').test('ab'.repeat(500));",
  "console.log({ a: 1 }); text('t'); structuredClone({ b: [1] }); new URL('http://x');",
  "Symbol.for('leak'); new Map([[{}, 1]]); new WeakRef({}); (async () => { await 1 })();",
  "await null; eval('var leaked = 1'); new Function('return 1')();",
];

describe("createEngines", () => {
  const engines = createEngines(module);
  engines.defineModules("m", modules);
  const limits = { ...defaultLimits, memoryMiB: 64, cpuMs: 2_000 };
  const run = (engine: PreparedEngine, body: string): void => {
    createGuest(engine, { code: programText(body), seed: "0".repeat(32), startMs: 0, limits, cancelled: () => false, part: () => undefined }).start();
  };
  const pristine = ((): string => {
    const engine = engines.prepare("m", 64);
    const hash = hashOf(engine);
    engines.release(engine, true);
    return hash;
  })();

  test("sees that restoring works with the pinned build", () => {
    expect(engines.restores).toBe(true);
  });

  test("gives every run the same memory, byte for byte, whatever ran before it", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }), (body) => {
        const engine = engines.prepare("m", 64);
        expect(hashOf(engine)).toBe(pristine);
        run(engine, body.join("\n"));
        expect(hashOf(engine)).not.toBe(pristine);
        engines.release(engine, true);
      }),
      { numRuns: 120 },
    );
    expect(hashOf(engines.prepare("m", 64))).toBe(pristine);
  }, 180_000);

  test("gives the same memory on a new engine and on a used one, and for another set of tools another", () => {
    const fresh = Array.from({ length: 6 }, () => engines.prepare("m", 64));
    for (const engine of fresh) expect(hashOf(engine)).toBe(pristine);
    engines.defineModules("other", '[{"namespace":"demo","tools":["echo","more"]}]');
    expect(hashOf(engines.prepare("other", 64))).not.toBe(pristine);
  });

  test("does not keep an engine that got large, or through which something was thrown", () => {
    const large = engines.prepare("m", 64);
    run(large, "globalThis.kept = new Uint8Array(8 << 20).fill(1)");
    engines.release(large, true);
    const broken = engines.prepare("m", 64);
    engines.release(broken, false);
    const next = Array.from({ length: 8 }, () => engines.prepare("m", 64));
    for (const engine of next) expect([large.instance, broken.instance]).not.toContain(engine.instance);
  });
});
