import type { GuestConsoleEntry } from "@callgate/contract";
import { emitted } from "../guest-protocol.ts";
import type { Emit } from "./calls.ts";
import { defineGlobal, freeze, stringify } from "./intrinsics.ts";
import { render, renderAll } from "./render.ts";

/** Makes `console`. Values are turned into text here, in the guest; the host only ever sees text. Never throws. */
export function installConsole(emit: Emit): void {
  const print = (level: GuestConsoleEntry["level"], values: readonly unknown[], prefix = ""): void => {
    let text: string;
    try {
      text = prefix + renderAll(values);
    } catch {
      text = "[unreadable]";
    }
    emit(emitted.console, level, stringify(text));
  };
  const counts: Record<string, number> = { __proto__: null } as never;
  const console = {
    log: (...values: unknown[]) => print("log", values),
    info: (...values: unknown[]) => print("info", values),
    warn: (...values: unknown[]) => print("warn", values),
    error: (...values: unknown[]) => print("error", values),
    debug: (...values: unknown[]) => print("debug", values),
    trace: (...values: unknown[]) => print("debug", values),
    dir: (value: unknown) => print("log", [value]),
    table: (value: unknown) => print("log", [value]),
    group: (...values: unknown[]) => print("log", values),
    groupEnd: () => {},
    assert: (ok: unknown, ...values: unknown[]) => {
      if (!ok) print("error", values, "Assertion failed ");
    },
    count: (label: unknown = "default") => {
      const key = typeof label === "string" ? label : render(label);
      counts[key] = (counts[key] ?? 0) + 1;
      print("log", [`${key}: ${counts[key]}`]);
    },
    // The guest's clock stands still between completions: a duration would mislead.
    time: () => {},
    timeEnd: () => {},
    timeLog: () => {},
  };
  defineGlobal("console", freeze(console));
}
