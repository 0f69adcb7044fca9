import { formatGib, formatLocalTime } from '../../engine/core/base/text.ts';
import { describeMachineAgents } from '../../engine/index.ts';
import type { DashboardData, RunnerRow } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';
import { getStateStyle } from './states.ts';

const formatLoad = ({ load }: RunnerRow): string => (load === null ? '-' : load.toFixed(1));

const formatDisk = ({ disk_free_bytes: bytes }: RunnerRow): string =>
  bytes === null ? '-' : formatGib(bytes);

const REACHED: Readonly<Record<RunnerRow['transport'], string>> = {
  ssh: 'by ssh',
  command: 'by the command',
  broker: 'over the broker, from',
};

const listMachines = ({ runners }: Pick<DashboardData, 'runners'>): readonly RunnerRow[] => runners ?? [];

/** Other machines that run workers. */
export const runnersPane = definePane<RunnerRow>({
  id: 'runners',
  digit: '9',
  title: 'Runners',
  dataParts: ['runners'],
  listRows: listMachines,
  getRowId: ({ id }) => id,
  findRow: (data, id) => listMachines(data).find((each) => each.id === id),
  fields: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    pool: ({ pool }) => pool,
    status: ({ state }) => state,
    project: ({ projects }) => projects.join(' '),
    why: ({ reason }) => reason,
  },
  columns: [
    { head: 'id', width: 4, text: ({ id }) => id },
    { head: 'name', width: 13, text: ({ name }) => name },
    { head: 'pool', width: 8, minWidth: 52, text: ({ pool }) => pool },
    {
      head: 'workers',
      width: 7,
      align: 'right',
      text: ({ running, max }) => `${running}/${max}`,
      value: ({ running }) => running,
    },
    {
      head: 'state',
      width: 10,
      text: ({ state }) => state,
      style: ({ state }) => getStateStyle(state),
    },
    {
      head: 'load',
      width: 4,
      minWidth: 60,
      align: 'right',
      isLively: true,
      text: formatLoad,
      value: ({ load }) => load,
    },
    {
      head: 'disk',
      width: 8,
      minWidth: 68,
      align: 'right',
      isLively: true,
      text: formatDisk,
      value: ({ disk_free_bytes: bytes }) => bytes,
    },
    { head: 'why', text: ({ reason }) => reason ?? '' },
  ],
  countUnfinished: (data) => listMachines(data).filter(({ state }) => state !== 'revoked').length,
  isQuietAtZero: true,
  empty: ['No other machine runs workers.', '', 'svc runner add HOST adds one: docs/operate/fleet.md'],
  renderPreview: (_state, row, cells) => ({
    title: row.name,
    note: row.state,
    lines: renderFacts(
      [
        ['id', row.id],
        ['state', row.state, getStateStyle(row.state)],
        ['since', row.since === null ? null : formatLocalTime(row.since)],
        ['why', row.reason, 'warn'],
        ['workers', `${row.running} of ${row.max}`],
        ['pool', row.pool],
        ['agents', row.agents.length === 0 ? null : describeMachineAgents(row.agents)],
        ['projects', row.projects.join(', ')],
        ['load', row.load === null ? null : `${formatLoad(row)} processes for each processor`],
        ['disk', row.disk_free_bytes === null ? null : `${formatDisk(row)} free`],
        ['reached', `${REACHED[row.transport]} ${row.address}`],
      ],
      cells,
    ),
  }),
});
