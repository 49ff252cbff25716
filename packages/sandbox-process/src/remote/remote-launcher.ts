import { readFileSync } from "node:fs";
import { CallgateError } from "@callgate/contract";
import type { Launcher, LauncherProbe } from "../launcher/launcher.ts";
import { orderOf } from "./guest-order.ts";
import { createGreet } from "./remote-connection.ts";
import type { RemoteOptions } from "./remote-connection.ts";
import { launchRemoteGuest } from "./remote-guest.ts";

/**
 * Starts guests on another host, which runs `callgate sandbox serve`. The walls are that host's. One connection a guest,
 * over TLS; it may break and is made again.
 *
 * Throws `CallgateError` CONFIG_INVALID for options that cannot be meant.
 */
export function createRemoteLauncher(options: RemoteOptions): Launcher {
  const greet = createGreet(options);
  let ready: Promise<LauncherProbe> | undefined;
  async function probe(): Promise<LauncherProbe> {
    const greeting = await greet();
    if (greeting.kind !== "welcome") return { kind: "unavailable", reason: greeting.reason, fix: greeting.kind === "refused" ? "see the reason" : "start it with callgate sandbox serve, and let this machine reach it" };
    greeting.wire.destroy();
    return greeting.welcome.probe;
  }
  return {
    name: "remote",
    isElsewhere: true,
    async probe() {
      ready ??= probe();
      const found = await ready;
      // A server that is not there may come back.
      if (found.kind !== "ready") ready = undefined;
      return found;
    },
    launch(spec) {
      if (spec.door !== undefined) throw new CallgateError("CONFIG_INVALID", "The launcher remote has no way out for sandbox.network. Remove sandbox.network, or let programs reach the network through a tool");
      return launchRemoteGuest({ greet, order: orderOf(spec), file: spec.guestFile === undefined ? new Uint8Array() : readFileSync(spec.guestFile) });
    },
  };
}
