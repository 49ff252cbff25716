import { parentPort, workerData } from "node:worker_threads";
import type { NodeWorld } from "../program/node-world.ts";
import { createCheckService } from "./check-service.ts";
import type { CheckerRequest } from "./messages.ts";

const port = parentPort;
if (port !== null) {
  const answer = createCheckService((workerData as { readonly node?: NodeWorld }).node);
  port.on("message", (request: CheckerRequest) => {
    port.postMessage(answer(request));
  });
}
