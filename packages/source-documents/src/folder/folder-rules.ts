import { extname } from "node:path";
import { CallgateError } from "@callgate/contract";
import picomatch from "picomatch";
import { documentExtensions } from "../reader/read-document.ts";

/** Never read, whatever `include` says: what begins with a dot, what others installed, keys and exported credentials. */
const neverRead: readonly string[] = ["**/.*", "**/.*/**", "**/node_modules/**", "**/*.{pem,key,p12,pfx,jks,kdbx}*", "**/id_{rsa,dsa,ecdsa,ed25519}*", "**/*{credentials,accesskeys,rootkey}*.{csv,tsv,txt}"];

/** Which files of a folder are documents. */
export interface FolderRules {
  /** @param path within the folder, with `/` */
  isDocument(path: string): boolean;
  /** Whether there can be documents in a folder. */
  isEntered(path: string): boolean;
}

/** Errors: `CallgateError` CONFIG_INVALID for a pattern that leads out of the folder. */
export function folderRules({ include, exclude = [] }: { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined }): FolderRules {
  for (const pattern of [...(include ?? []), ...exclude]) {
    if (/^(?:\/|!|[A-Za-z]:)|(?:^|\/)\.\.(?:\/|$)/.test(pattern)) throw new CallgateError("CONFIG_INVALID", `"${pattern}" is no pattern for files of the folder: write it from the folder on, such as "**/*.md" or "drafts/**", without ".." and "!"`);
  }
  const options = { dot: true, nocase: true } as const;
  const isExcluded = picomatch([...neverRead, ...exclude], options);
  const isIncluded = include === undefined ? () => true : picomatch([...include], options);
  return {
    isDocument: (path) => documentExtensions.has(extname(path).toLowerCase()) && !isExcluded(path) && isIncluded(path),
    isEntered: (path) => !isExcluded(path) && !isExcluded(`${path}/x`),
  };
}
