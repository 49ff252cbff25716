import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { testSandboxDriver } from "@callgate/testkit";
import { afterAll, beforeAll, describe } from "vitest";
import { serveFunction } from "../fixtures/function-server.ts";
import type { FunctionServer } from "../fixtures/function-server.ts";
import { createFunctionHandler } from "./function-handler.ts";
import { createHttpFunctionDriver } from "./http-function-driver.ts";

describe("a function over HTTP", () => {
  const token = "a token of a test, 32 characters";
  const inner = createQuickJsDriver({ workers: 2 });
  let server: FunctionServer;
  beforeAll(async () => {
    server = await serveFunction(createFunctionHandler({ driver: inner, token }));
  });
  afterAll(async () => {
    await server.close();
    await inner.close();
  });

  testSandboxDriver("createHttpFunctionDriver, QuickJS in the function", () => createHttpFunctionDriver({ url: server.url, token }), {
    dialect: "javascript",
    except: { "CPU time adds up over the stretches of a run": "a round begins anew, so a program of very many short rounds costs the square of them before it comes to cpuMs; what one execution uses is bounded" },
  });
});
