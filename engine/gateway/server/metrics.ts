import type { GatewayCall } from './call.ts';

/** Counts calls for Prometheus: names and numbers only. */
export interface GatewayMetrics {
  count(call: GatewayCall): void;
  /** Returns all calls so far. */
  calls(): number;
  /** Formats the counters in the text format of Prometheus; `gauges` are the current values. */
  format(gauges: Readonly<Record<string, number>>): string;
}

/** Seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** A client chooses model names; a counter for each of them must not fill the memory. */
const MOST_SERIES = 2000;

const CALLS = { name: 'svc_gateway_calls_total', labels: ['protocol', 'provider', 'outcome'] };
const TOKENS = { name: 'svc_gateway_tokens_total', labels: ['provider', 'model', 'type'] };
const TOKEN_TYPES = ['input', 'output', 'cache_read', 'cache_write'] as const;

/** Names a counter with its label values; it is written out on request. */
const nameSeries = ({ name }: typeof CALLS, ...values: string[]): string =>
  [name, ...values.map((value) => value.replaceAll('\n', ' '))].join('\n');

function formatSeries(series: string): string {
  const [name, ...values] = series.split('\n');
  const { labels } = name === CALLS.name ? CALLS : TOKENS;
  return `${name}{${labels.map((label, at) => `${label}=${quoteLabel(values[at] ?? '')}`).join(',')}}`;
}

/** Prometheus has escapes for three characters in a label, and rejects everything after any other one. */
const quoteLabel = (text: string): string => `"${text.toWellFormed().replace(/["\\\p{Cc}]/gu, ' ')}"`;

export function createMetrics(): GatewayMetrics {
  const counters = new Map<string, number>();
  const buckets = BUCKETS.map(() => 0);
  let sum = 0;
  let all = 0;

  function addToSeries(series: string, amount: number): void {
    const before = counters.get(series);
    if (before === undefined && counters.size >= MOST_SERIES) return;
    counters.set(series, (before ?? 0) + amount);
  }

  return {
    count({ row }) {
      all += 1;
      const provider = row.provider ?? '';
      const model = row.model ?? '';
      addToSeries(nameSeries(CALLS, row.protocol, provider, row.outcome), 1);
      for (const type of TOKEN_TYPES)
        if (row[type] > 0) addToSeries(nameSeries(TOKENS, provider, model, type), row[type]);
      const seconds = (row.total_ms ?? 0) / 1000;
      sum += seconds;
      BUCKETS.forEach((bound, at) => {
        if (seconds <= bound) buckets[at] = (buckets[at] ?? 0) + 1;
      });
    },
    calls: () => all,
    format(gauges) {
      const lines: string[] = [];
      for (const { name } of [CALLS, TOKENS]) {
        lines.push(`# TYPE ${name} counter`);
        for (const [series, value] of counters)
          if (series.startsWith(name)) lines.push(`${formatSeries(series)} ${value}`);
      }
      lines.push('# TYPE svc_gateway_call_seconds histogram');
      BUCKETS.forEach((bound, at) => {
        lines.push(`svc_gateway_call_seconds_bucket{le="${bound}"} ${buckets[at]}`);
      });
      lines.push(`svc_gateway_call_seconds_bucket{le="+Inf"} ${all}`);
      lines.push(`svc_gateway_call_seconds_sum ${sum}`, `svc_gateway_call_seconds_count ${all}`);
      for (const [name, value] of Object.entries(gauges))
        lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
      return `${lines.join('\n')}\n`;
    },
  };
}
