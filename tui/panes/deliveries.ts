import { formatCount, formatLocalTime } from '../../engine/core/base/text.ts';
import type { ListedDelivery } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';
import { getStateStyle } from './states.ts';
import { formatTimeSince } from './time.ts';

export const deliveriesPane = definePane<ListedDelivery>({
  id: 'deliveries',
  digit: '6',
  title: 'Deliveries',
  dataParts: ['deliveries'],
  findSubject: (_, id) => ({ kind: 'delivery', id }),
  listRows: (data) => [...data.deliveries.values()].sort((one, other) => other.id - one.id),
  getRowId: (delivery) => String(delivery.id),
  findRow: (data, id) => data.deliveries.get(id),
  fields: {
    event: (delivery) => delivery.event,
    status: (delivery) => delivery.state,
    url: (delivery) => delivery.url,
    error: (delivery) => delivery.last_error,
  },
  columns: [
    { head: 'id', width: 5, align: 'right', text: (delivery) => String(delivery.id) },
    { head: 'event', width: 17, text: (delivery) => delivery.event },
    {
      head: 'state',
      width: 9,
      text: (delivery) => delivery.state,
      style: (delivery) => getStateStyle(delivery.state),
    },
    { head: 'tries', width: 5, minWidth: 56, align: 'right', text: (delivery) => String(delivery.attempts) },
    {
      head: 'age',
      width: 4,
      align: 'right',
      text: (delivery, { now }) => formatTimeSince(delivery.created_at, now),
    },
    { head: 'to', text: (delivery) => delivery.url },
  ],
  countUnfinished: (data) => [...data.deliveries.values()].filter((each) => each.state === 'dead').length,
  isQuietAtZero: true,
  note({ data: { deliveries, status } }) {
    const { pending = 0, delivered = 0, dead = 0 } = status?.deliveries ?? {};
    const all = pending + delivered + dead;
    return all > deliveries.size ? `newest ${deliveries.size} of ${all}` : undefined;
  },
  empty: ['Nothing has been sent.', '', 'Events go to the addresses of notify.webhooks in svc.yaml.'],
  renderPreview: (_state, row, cells) => ({
    title: `delivery ${row.id}`,
    note: row.state,
    lines: renderFacts(
      [
        ['event', row.event],
        ['to', row.url],
        ['message', row.message_id],
        [
          'state',
          `${row.state} after ${formatCount(row.attempts, 'try', 'tries')}`,
          getStateStyle(row.state),
        ],
        ['created', formatLocalTime(row.created_at)],
        ['next try', row.next_at === null ? null : formatLocalTime(row.next_at)],
        ['delivered', row.delivered_at === null ? null : formatLocalTime(row.delivered_at)],
        ['answer', row.last_status === null ? null : `HTTP ${row.last_status}`],
        ['error', row.last_error, 'bad'],
      ],
      cells,
    ),
  }),
});
