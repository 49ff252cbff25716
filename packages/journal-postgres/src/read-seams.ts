import type { Blobs } from "@callgate/contract";
import type { MasterKey } from "@callgate/runtime/journal-parts";
import type { Database } from "./database.ts";
import type { Owners } from "./owners.ts";

/** What reads of the record go through. */
export interface ReadSeams {
  readonly database: Database;
  readonly masterKey: MasterKey;
  readonly owners: Owners;
  readonly blobs: Blobs;
}
