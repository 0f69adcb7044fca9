import type { Call } from './call.ts';

/** Counts calls for Prometheus. Names and numbers only. */
export interface Metrics {
  count(call: Call): void;
  /** All calls so far. */
  calls(): number;
  /** In the text format of Prometheus; `gauges` are those of now. */
  format(gauges: Readonly<Record<string, number>>): string;
}

/** Seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** A client chooses the names of models; a counter for each of them must not fill the memory. */
const MOST_SERIES = 2000;

const quote = (text: string): string => JSON.stringify(text.replace(/[\n"\\]/g, ' '));

export function createMetrics(): Metrics {
  const counters = new Map<string, number>();
  const buckets = BUCKETS.map(() => 0);
  let sum = 0;
  let all = 0;

  function add(name: string, labels: Readonly<Record<string, string>>, amount: number): void {
    const key = `${name}{${Object.entries(labels)
      .map(([label, value]) => `${label}=${quote(value)}`)
      .join(',')}}`;
    if (!counters.has(key) && counters.size >= MOST_SERIES) return;
    counters.set(key, (counters.get(key) ?? 0) + amount);
  }

  return {
    count({ row }) {
      all += 1;
      const provider = row.provider ?? '';
      const model = row.model ?? '';
      add('svc_gateway_calls_total', { protocol: row.protocol, provider, outcome: row.outcome }, 1);
      const tokens = {
        input: row.input,
        output: row.output,
        cache_read: row.cache_read,
        cache_write: row.cache_write,
      };
      for (const [type, amount] of Object.entries(tokens))
        if (amount > 0) add('svc_gateway_tokens_total', { provider, model, type }, amount);
      const seconds = (row.total_ms ?? 0) / 1000;
      sum += seconds;
      BUCKETS.forEach((bound, at) => {
        if (seconds <= bound) buckets[at] = (buckets[at] ?? 0) + 1;
      });
    },
    calls: () => all,
    format(gauges) {
      const lines = ['# TYPE svc_gateway_calls_total counter', '# TYPE svc_gateway_tokens_total counter'];
      for (const [key, value] of counters) lines.push(`${key} ${value}`);
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
