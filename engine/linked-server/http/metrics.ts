import { readResidentBytes } from '../../core/platform/resident-memory.ts';
import type { ServerParts } from './context.ts';

const COUNTED = [
  'accounts',
  'people',
  'machines',
  'workspaces',
  'pending_decisions',
  'browser_sessions',
  'device_requests',
] as const;

/** Formats counts of stored rows, and memory, for Prometheus (text format 0.0.4). */
export async function formatMetrics({ db }: ServerParts): Promise<string> {
  const lines: string[] = [];
  const addMetric = (name: string, about: string, value: number): void => {
    lines.push(`# HELP ${name} ${about}`, `# TYPE ${name} gauge`, `${name} ${value}`);
  };
  for (const table of COUNTED) {
    const { count } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    addMetric(`svc_server_${table}`, `Rows of ${table.replace('_', ' ')}.`, Number(count));
  }
  addMetric('svc_server_resident_bytes', 'Memory of the process.', readResidentBytes());
  addMetric('svc_server_uptime_seconds', 'Since the process started.', Math.floor(process.uptime()));
  return `${lines.join('\n')}\n`;
}
