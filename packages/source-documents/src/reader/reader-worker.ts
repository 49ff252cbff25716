// The thread in which files are read that nobody has looked at.
import { parentPort } from "node:worker_threads";
import { readDocument } from "./read-document.ts";
import type { DocumentFile } from "./read-document.ts";

parentPort?.on("message", (file: DocumentFile) => {
  readDocument(file).then(
    (read) => parentPort?.postMessage(read),
    // It ends the thread, and is told as its end.
    (fault: unknown) => setImmediate(() => {
      throw fault;
    }),
  );
});
