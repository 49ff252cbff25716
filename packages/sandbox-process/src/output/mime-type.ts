import { extname } from "node:path";

/** Types of what programs write most; anything else is bytes. */
const types: Readonly<Record<string, string>> = {
  ".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".html": "text/html", ".css": "text/css",
  ".js": "text/javascript", ".mjs": "text/javascript", ".ts": "text/plain", ".py": "text/x-python", ".sh": "application/x-sh", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
  ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
  ".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".parquet": "application/vnd.apache.parquet",
  ".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4",
};

/** The type of a file by its name, for guests that do not say it. */
export function mimeTypeOf(name: string): string {
  return types[extname(name).toLowerCase()] ?? "application/octet-stream";
}
