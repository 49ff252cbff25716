import { testSandboxDriver } from "@callgate/testkit";
import { createDenoDriver } from "./deno-driver.ts";
import { denoExceptions } from "./fixtures/suite-exceptions.ts";

testSandboxDriver("createDenoDriver", () => createDenoDriver({ warm: 2 }), {
  dialect: "javascript",
  except: denoExceptions,
});
