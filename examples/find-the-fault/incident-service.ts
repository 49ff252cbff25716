import { httpTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { startJsonService } from "../shared/json-service.ts";
import type { ServiceFault } from "../shared/trouble.ts";

const incident = z.object({
  title: z.string().min(1),
  service: z.string().describe("Where the cause is"),
  since: z.string().describe("The first minute in which it failed, such as 2026-11-24T14:07"),
  until: z.string().describe("The last one"),
  cause: z.object({ key: z.string(), from: z.union([z.string(), z.number()]), to: z.union([z.string(), z.number()]), at: z.string(), by: z.string() }).describe("The change of the configuration that it comes from"),
  failed_orders: z.int().min(0),
  evidence: z.array(z.string()).min(1),
});
export type Incident = z.infer<typeof incident>;

/** The system that incidents are reported to. It takes any number of them, so that a second one is seen. */
export async function startIncidentService(faults: Readonly<Record<string, ServiceFault>> = {}): Promise<{ readonly tools: readonly Tool[]; readonly incidents: readonly Incident[]; close(): Promise<void> }> {
  const incidents: Incident[] = [];
  const service = await startJsonService(({ method, path, body }) => {
    if (method !== "POST" || path !== "/incidents") return { status: 404, body: { message: "not here" } };
    incidents.push(incident.parse(body));
    return { status: 201, body: { id: `INC-${incidents.length}` } };
  }, faults);
  return {
    tools: [httpTool({ name: "report", description: "Reports an incident to the people on duty. They read each one: report once, when the cause is known.", method: "POST", url: `${service.url}/incidents`, input: incident, output: z.object({ id: z.string() }) })],
    incidents,
    close: service.close,
  };
}
