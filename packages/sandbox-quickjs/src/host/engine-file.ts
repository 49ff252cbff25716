import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { CallgateError } from "@callgate/contract";
import { engineSha256 } from "../engine/abi.ts";
import { hookModule } from "../engine/rejection-hook.ts";
import { exportTable } from "../engine/export-table.ts";
import type { WasmModule } from "../engine/web-assembly.ts";
import { WebAssembly } from "../engine/web-assembly.ts";

let engine: WasmModule | undefined;

/**
 * Compiles the engine once in a process; workers get the compiled module. Takes about 20 ms.
 *
 * What is compiled is never let go of: V8 of Node 24 now and then takes the process down while it frees the code of a
 * module whose threads have ended (nodejs/node#64500).
 *
 * Throws `CallgateError` DRIVER_FAILED when the file is not the build this package was written for.
 */
export function loadEngine(): WasmModule {
  engine ??= compileEngine();
  // The same bytes are one module in all threads, for as long as one of them holds it.
  hookModule();
  return engine;
}

function compileEngine(): WasmModule {
  const path = createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  const bytes = readFileSync(path);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== engineSha256) {
    throw new CallgateError("DRIVER_FAILED", "The QuickJS build that is installed is not the one this version works with: install @jitl/quickjs-wasmfile-release-sync 0.32.0", {
      details: { expected: engineSha256, found: sha256 },
    });
  }
  return new WebAssembly.Module(exportTable(bytes));
}
