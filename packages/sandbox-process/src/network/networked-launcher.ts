import { readFileSync } from "node:fs";
import { doorPath } from "../launcher/launcher.ts";
import type { Launcher } from "../launcher/launcher.ts";
import { openGuestDoor } from "./guest-door.ts";
import type { NetworkPolicy } from "./network-policy.ts";

/** Where programs find the proxy, in their own network. */
const innerPort = 3_128;
const proxyUrl = `http://127.0.0.1:${innerPort}`;

/** What HTTP clients of Python, Node, curl and most others look at. Lower case first: some read only that. */
const environment = { http_proxy: proxyUrl, https_proxy: proxyUrl, HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, NODE_USE_ENV_PROXY: "1" } as const;

/**
 * A launcher whose guests have one way out: a proxy that this process runs and that decides. Their own network stays a
 * loopback without a resolver; a small process inside listens there and passes bytes to the proxy's socket. Needs python3
 * in the sandbox.
 */
export function createNetworkedLauncher(launcher: Launcher, policy: NetworkPolicy): Launcher {
  const forwarder = readFileSync(new URL("../../guests/door.py", import.meta.url), "utf8");
  return {
    name: launcher.name,
    probe: () => launcher.probe(),
    async close() {
      await launcher.close?.();
    },
    launch(spec) {
      const door = openGuestDoor(policy);
      try {
        const guest = launcher.launch({
          ...spec,
          door: door.socket,
          command: ["python3", "-I", "-S", "-c", forwarder, doorPath, `${innerPort}`, ...spec.command],
          environment: { ...environment, ...spec.environment },
          bounds: { ...spec.bounds, processes: spec.bounds.processes + 1 },
        });
        const exited = guest.exited.then(async (exit) => {
          await door.close();
          return exit;
        });
        return { ...guest, exited, onConnection: (hear) => door.listen(hear) };
      } catch (fault) {
        door.close().catch(() => undefined);
        throw fault;
      }
    },
  };
}
