import { durationBucketsSeconds, metricDefinitions } from "./metric-definitions.ts";
import type { MetricDefinition, Observe } from "./metric-definitions.ts";

/** One metric with all its series. */
export interface MetricFamily {
  readonly name: string;
  readonly kind: MetricDefinition["kind"];
  readonly help: string;
  /** Of a histogram: NAME_bucket (cumulative, label `le`), NAME_sum and NAME_count. */
  readonly samples: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

export interface MetricRegistry {
  readonly contentType: string;
  readonly observe: Observe;
  text(): Promise<string>;
  values(): Promise<readonly MetricFamily[]>;
}

type Series = (labels: Readonly<Record<string, string>>, value: number) => void;

/** One registry per gate: the library's global one would mix the gates of a process. It is loaded here, for it is large and few need it. */
export async function openMetricRegistry(): Promise<MetricRegistry> {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  const seriesOf = (name: string, { kind, help, labels }: MetricDefinition): Series => {
    const shape = { name, help, labelNames: [...labels], registers };
    switch (kind) {
      case "counter": {
        const counter = new Counter(shape);
        return (labelled, value) => counter.inc(labelled, value);
      }
      case "gauge": {
        const gauge = new Gauge(shape);
        return (labelled, value) => gauge.set(labelled, value);
      }
      case "histogram": {
        const histogram = new Histogram({ ...shape, buckets: [...durationBucketsSeconds] });
        return (labelled, value) => histogram.observe(labelled, value);
      }
    }
  };
  const series = new Map(Object.entries(metricDefinitions).map(([name, definition]) => [name, seriesOf(name, definition)]));
  return {
    contentType: registry.contentType,
    observe: (name, labels, value) => series.get(name)?.(labels, value),
    text: async () => await registry.metrics(),
    values: async () => familiesOf(await registry.getMetricsAsJSON()),
  };
}

/** `metricName` is of the parts of a histogram, and not in the library's own type of this answer. */
type Read = readonly { readonly name: string; readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string | number | undefined>>; readonly metricName?: string }[] }[];

function familiesOf(read: Read): readonly MetricFamily[] {
  const valuesOf = new Map(read.map(({ name, values }) => [name, values]));
  return Object.entries(metricDefinitions).map(([name, { kind, help }]) => ({
    name,
    kind,
    help,
    samples: (valuesOf.get(name) ?? []).map(({ value, labels, metricName }) => ({ name: metricName ?? name, labels: Object.fromEntries(Object.entries(labels).map(([label, of]) => [label, String(of)])), value })),
  }));
}
