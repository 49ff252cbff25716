import { testSandboxDriver } from "@callgate/testkit";
import { createDenoDriver } from "./deno-driver.ts";

testSandboxDriver("createDenoDriver", () => createDenoDriver({ warm: 2 }), {
  dialect: "javascript",
  except: {
    "start may be called any number of times at once; what does not fit waits": "each is a process: 300 take minutes on a busy machine; 40 in hostile.int.test.ts",
    "console output beyond consoleBytes is counted and dropped": "process sandboxes keep the end of the output too; see output-capture.test.ts",
  },
});
