import { parse as parseYaml } from "yaml";
import { isRecord, own } from "./local-reference.ts";

/**
 * Reads a document's text: JSON, or YAML of which JSON is a part.
 *
 * Errors: `Error` that says what is wrong and where.
 */
export function parseDocument(text: string): unknown {
  const clean = text.replace(/^\uFEFF/, "");
  if (/^\s*[{[]/.test(clean)) {
    try {
      return JSON.parse(clean) as unknown;
    } catch {
      // Flow style of YAML begins alike, and its parser says where the fault is.
    }
  }
  try {
    return parseYaml(clean, { merge: true, uniqueKeys: false, strict: false, prettyErrors: true, logLevel: "error" }) as unknown;
  } catch (fault) {
    throw new Error(`it is neither JSON nor YAML: ${fault instanceof Error ? (fault.message.split("\n")[0] ?? "") : String(fault)}`, { cause: fault });
  }
}

/**
 * Tells that a value is an OpenAPI document, and writes its version as a text: YAML reads `openapi: 3.1` as a number.
 *
 * Errors: `Error` that says what it is instead.
 */
export function checkVersion(document: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(document)) throw new Error("it is no OpenAPI document: it holds no object");
  const [openapi, swagger] = [versionText(own(document, "openapi")), versionText(own(document, "swagger"))];
  if (openapi !== undefined && /^3\.\d/.test(openapi)) return { ...document, openapi: /^3\.\d$/.test(openapi) ? `${openapi}.0` : openapi };
  if (swagger !== undefined && swagger.startsWith("2.")) return { ...document, swagger: "2.0" };
  const said = openapi ?? swagger ?? versionText(own(document, "swaggerVersion"));
  throw new Error(said === undefined ? 'it is no OpenAPI document: it has neither "openapi" nor "swagger"' : `its version ${said} is not one of 2.0, 3.0, 3.1 and 3.2`);
}

function versionText(version: unknown): string | undefined {
  if (typeof version === "number") return Number.isInteger(version) ? `${version}.0` : String(version);
  return typeof version === "string" ? version.trim() : undefined;
}
