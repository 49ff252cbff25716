import { parentPort, workerData } from "node:worker_threads";
import { createReaderService } from "./reader-service.ts";
import type { ReaderRequest, ReaderSettings } from "./messages.ts";

const port = parentPort;
if (port !== null) {
  const answer = createReaderService(workerData as ReaderSettings);
  port.on("message", (request: ReaderRequest) => {
    port.postMessage(answer(request));
  });
}
