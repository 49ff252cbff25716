import { parentPort } from "node:worker_threads";
import { createCheckService } from "./check-service.ts";
import type { CheckerRequest } from "./messages.ts";

const port = parentPort;
if (port !== null) {
  const answer = createCheckService();
  port.on("message", (request: CheckerRequest) => {
    port.postMessage(answer(request));
  });
}
