// A model's stream that is cut, stalls, repeats, reorders or is garbled at every byte, in the formats of OpenAI's chat and
// responses and of Anthropic's messages, through their real providers: the loop never hangs, and every call that was made is
// told and has its result. A few minutes. `node checks/full/agent-wire.mjs`
import { spawnSync } from "node:child_process";

const { status } = spawnSync("npx", ["vitest", "run", "packages/agent/src/wire.int.test.ts"], { stdio: "inherit", env: { ...process.env, CALLGATE_EVERY_BYTE: "1" } });
process.exitCode = status ?? 1;
