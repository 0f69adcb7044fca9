import { formatLocalTime } from '../../engine/core/base/text.ts';
import type { PeerRow } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';
import { formatTimeSince } from './time.ts';

/** Live sessions: Chairs, sessions started by hand, workers. */
export const peersPane = definePane<PeerRow>({
  id: 'peers',
  digit: '',
  parent: 'bus',
  title: 'Participants',
  dataParts: ['peers'],
  listRows: ({ peers }) => peers.filter((each) => each.state === 'live'),
  getRowId: (peer) => peer.session_id,
  findRow: (data, id) => data.peers.find((each) => each.session_id === id),
  fields: {
    id: (peer) => peer.session_id,
    seat: (peer) => peer.seat,
    agent: (peer) => peer.agent,
    project: (peer) => peer.project,
    worker: (peer) => peer.worker_id,
    task: (peer) => peer.task_id,
    title: (peer) => peer.title,
  },
  columns: [
    { head: 'session', width: 10, text: (peer) => peer.session_id },
    { head: 'seat', width: 6, text: (peer) => peer.seat },
    { head: 'agent', width: 9, minWidth: 44, text: (peer) => peer.agent ?? '-' },
    { head: 'task', width: 6, minWidth: 52, text: (peer) => peer.task_id ?? '-' },
    { head: 'age', width: 4, align: 'right', text: (peer, { now }) => formatTimeSince(peer.since, now) },
    { head: 'title', text: (peer) => peer.title ?? '' },
  ],
  countUnfinished: ({ peers }) => peers.filter((each) => each.state === 'live').length,
  empty: [
    'No participants.',
    '',
    'Workers, and agents that have svc mcp as a tool, are listed while they run.',
  ],
  note: ({ lists }) => `${lists.peers.ids.length} here · Esc: messages`,
  renderPreview: (state, row, cells) => {
    const held = state.data.locks.filter((each) => each.holder === row.session_id);
    return {
      title: row.session_id,
      note: row.seat,
      lines: renderFacts(
        [
          ['seat', row.seat],
          ['agent', row.agent],
          ['project', row.project ?? state.link.workspace],
          ['worker', row.worker_id],
          ['task', row.task_id],
          ['title', row.title],
          ['parent', row.parent],
          ['here since', formatLocalTime(row.since)],
          ['last seen', formatLocalTime(row.seen_at)],
          ['notices to', row.notify_base],
          ['locks', held.map((each) => each.path).join(', ')],
        ],
        cells,
      ),
    };
  },
});
