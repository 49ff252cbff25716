import type { JsonValue, LearnedOutputStore } from "@callgate/contract";
import { createStateFile } from "./state-file.ts";
import type { StateFileOptions } from "./state-file.ts";

/** What tools of a configuration were seen to answer. What cannot be read is learned again. */
export function createLearnedOutputFile(options: Omit<StateFileOptions, "place">): LearnedOutputStore {
  const file = createStateFile({ ...options, place: "learned-outputs" });
  return {
    read() {
      const bytes = file.read();
      try {
        return bytes === undefined ? undefined : (JSON.parse(Buffer.from(bytes).toString()) as JsonValue);
      } catch {
        options.onFault?.(new Error(`${file.path} is no JSON; what tools answer is learned again`));
        return undefined;
      }
    },
    write: (value) => file.write(Buffer.from(JSON.stringify(value))),
  };
}
