import { Box, Text } from 'ink';
import { Table } from 'ink-table';
import type { ReactNode } from 'react';
import { localTime } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import { clean, cut } from '../text.ts';

/** What runs, where it listens, what it uses. A small still table, so it can afford cells that are components. */
export function EngineTable({ state, height }: { state: State; height: number }): ReactNode {
  const { status } = state.data;
  if (status === null) return <Text>The engine has not answered yet.</Text>;
  const { deliveries, workers } = status;
  const room = Math.max(10, state.size.columns - 20);
  const address = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;
  const facts: [string, string][] = [
    ['engine', `pid ${status.pid}, version ${status.version}`],
    ['up since', localTime(status.started_at)],
    ['memory', `${Math.round(status.memory_bytes / 1024 ** 2)} MB`],
    ['workspace', status.root],
    ['receiver', status.receivers.map(address).join(', ') || 'off (svc webhook serve)'],
    ['http', status.http === null ? 'off' : address(status.http)],
    [
      'tasks',
      Object.entries(status.tasks)
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
    ],
    ['workers', `${workers.running} running, ${workers.queued} queued, at most ${workers.cap}`],
    ['deliveries', `${deliveries.pending} pending, ${deliveries.dead} dead`],
    ['svc.yaml', status.config_problem ?? 'in use'],
    ...status.warnings.map((warning): [string, string] => ['warning', warning]),
  ];
  // Each row of the table takes two lines of the screen, and its border one.
  const shown = facts.slice(0, Math.max(1, Math.floor((height - 3) / 2)));
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      <Table data={shown.map(([what, value]) => ({ what, value: cut(clean(value), room) }))} />
    </Box>
  );
}
