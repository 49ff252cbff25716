import { testSandboxDriver } from "@callgate/testkit";
import { createDenoDriver } from "./deno-driver.ts";

testSandboxDriver("createDenoDriver", () => createDenoDriver({ warm: 2 }), {
  dialect: "javascript",
  except: {
    "code-mode 6: an endless chain of microtasks ends at a named limit and the host's loop goes on turning": "V8 keeps the chain, so it ends at memoryMiB; see hostile.int.test.ts",
    "start may be called any number of times at once; what does not fit waits": "each is a process: 300 take minutes on a busy machine; 40 in hostile.int.test.ts",
    "console output beyond consoleBytes is counted and dropped": "process sandboxes keep the end of the output too; see output-capture.test.ts",
  },
});
