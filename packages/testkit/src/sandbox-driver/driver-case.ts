import type { SandboxDriver } from "@callgate/contract";

/** One thing a driver must do. `run` rejects when it does not. */
export interface DriverCase {
  readonly name: string;
  readonly run: (driver: SandboxDriver) => Promise<void>;
  readonly timeoutMs?: number;
}
