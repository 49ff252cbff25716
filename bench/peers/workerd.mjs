// @cloudflare/codemode as its README shows it, on a local workerd. Executor and tools live inside workerd, so a call
// crosses isolates and no process; a run crosses from Node by HTTP, as any user outside of workerd would.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const worker = `
import { DynamicWorkerExecutor } from "./index.js";
const records = (count) => Array.from({ length: count }, (_, id) => ({ id, group: "g" + (id % 7), amount: id % 100, name: "record " + id }));
const providers = [{ name: "codemode", fns: { get: async ({ n }) => ({ n }), rows: async ({ count }) => records(count) } }];
export default {
  async fetch(request, env) {
    const { code, timeout } = await request.json();
    return Response.json(await new DynamicWorkerExecutor({ loader: env.LOADER, timeout }).execute(code, providers));
  },
};`;

/** → { execute(body, timeoutMs) → value, end() } */
export async function startWorkerd() {
  const folder = dirname(fileURLToPath(import.meta.resolve("@cloudflare/codemode")));
  const module = (name, contents) => ({ type: "ESModule", path: name, contents });
  const parts = readdirSync(folder).filter((name) => name.endsWith(".js")).map((name) => module(name, readFileSync(join(folder, name), "utf8")));
  const acorn = module("acorn", readFileSync(fileURLToPath(import.meta.resolve("acorn")), "utf8"));
  const flare = new Miniflare({ modules: [module("worker.mjs", worker), ...parts, acorn], compatibilityDate: "2026-01-01", compatibilityFlags: ["nodejs_compat"], workerLoaders: { LOADER: {} } });
  await flare.ready;
  process.once("exit", () => void flare.dispose());
  return {
    async execute(body, timeout) {
      const code = `async () => { const get = (args) => codemode.get(args); const rows = (args) => codemode.rows(args); ${body} }`;
      const response = await flare.dispatchFetch("http://bench/", { method: "POST", body: JSON.stringify({ code, timeout }) });
      const { result, error } = await response.json();
      if (error !== undefined) throw new Error(error);
      return result;
    },
    end: () => flare.dispose(),
  };
}
