import type { SensitiveMark } from "@callgate/contract";
import type { BrokerTool } from "./call.ts";

type Side = "input" | "output";

const none: readonly never[] = [];

/** Where a tool's arguments are sensitive: JSON Pointers into them. */
export function inputPointers(tool: BrokerTool): readonly string[] {
  return pointers(tool, "input");
}

/** Where its output is sensitive. */
export function outputPointers(tool: BrokerTool): readonly string[] {
  return pointers(tool, "output");
}

/** The same with the places below which detectors are switched. */
export function inputMarks(tool: BrokerTool): readonly SensitiveMark[] {
  return marks(tool, "input");
}

/** The same of its output. */
export function outputMarks(tool: BrokerTool): readonly SensitiveMark[] {
  return marks(tool, "output");
}

/** Of a tool that is called as an older version, values of both forms come by. */
function pointers({ tool, older }: BrokerTool, side: Side): readonly string[] {
  const sensitive = older === undefined ? tool.sensitive : [...(tool.sensitive ?? []), ...older.sensitive];
  if (sensitive === undefined || sensitive.length === 0) return none;
  return sensitive.flatMap((pointer) => below(pointer, side));
}

function marks(tool: BrokerTool, side: Side): readonly SensitiveMark[] {
  const { detect } = tool.tool;
  if (detect === undefined) return pointers(tool, side);
  return [...pointers(tool, side), ...Object.entries(detect).flatMap(([pointer, switches]) => below(pointer, side).map((inside) => ({ pointer: inside, detect: switches })))];
}

/** `/input/card` becomes `/card`. */
function below(pointer: string, side: Side): readonly string[] {
  const prefix = `/${side}`;
  return pointer === prefix || pointer.startsWith(`${prefix}/`) ? [pointer.slice(prefix.length)] : none;
}
