import type { Gate } from "@callgate/contract";
import { defaultAlertRules, watchGate } from "@callgate/runtime/alerts";
import type { Alert, AlertRule, WatchOptions } from "@callgate/runtime/alerts";
import type { CallgateConfig } from "./config/load-config.ts";
import { resolveReferences } from "./config/secret-references.ts";
import { createWebhookSender } from "./webhook/webhook-sender.ts";

type AlertsConfig = NonNullable<CallgateConfig["alerts"]>;

/** The rules of a configuration: the shipped ones, changed or left out. */
export function alertRules({ webhook: _webhook, ...changed }: AlertsConfig): readonly AlertRule[] {
  return defaultAlertRules.flatMap((rule) => {
    const change = changed[rule.kind];
    if (change === false) return [];
    const { over = rule.over, withinMinutes = rule.withinMinutes, atLeast = rule.atLeast } = change ?? {};
    return [{ ...rule, over, withinMinutes, atLeast }];
  });
}

/** Tells alerts to whoever is here, and to the webhook of the configuration where it has one. What cannot be sent is told here. */
export function alertTeller({ webhook }: AlertsConfig, host: Parameters<typeof resolveReferences>[2], here: { readonly alert: (alert: Alert) => void; readonly fault: (message: string) => void }): { readonly tell: (alert: Alert) => void; /** Resolves when all was sent, or given up. */ readonly settled: () => Promise<void> } {
  if (webhook === undefined) return { tell: here.alert, settled: () => Promise.resolve() };
  const { url = "", secret = "" } = resolveReferences({ ...webhook }, "alerts.webhook", host).values;
  const sender = createWebhookSender({ url, secret });
  const sending = new Set<Promise<void>>();
  return {
    tell(alert) {
      here.alert(alert);
      const sent: Promise<void> = sender.send("alert", alert).catch((fault: unknown) => here.fault(fault instanceof Error ? fault.message : String(fault))).finally(() => sending.delete(sent));
      sending.add(sent);
    },
    settled: async () => void (await Promise.all(sending)),
  };
}

/** Watches a gate as its configuration says; undefined where that says nothing. */
export function watchConfigured(gate: Gate, alerts: AlertsConfig | undefined, { host, ...here }: { readonly host: Parameters<typeof resolveReferences>[2] } & Parameters<typeof alertTeller>[2]): { stop(): Promise<void> } | undefined {
  if (alerts === undefined) return undefined;
  const { tell, settled } = alertTeller(alerts, host, here);
  const options: WatchOptions = { rules: alertRules(alerts), onAlert: tell, onFault: here.fault };
  const watch = watchGate(gate, options);
  return {
    async stop() {
      watch.stop();
      await settled();
    },
  };
}
