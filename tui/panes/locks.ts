import { formatLocalTime } from '../../engine/core/base/text.ts';
import { nameSessionState } from '../../engine/index.ts';
import { getLockId } from '../state/details.ts';
import type { ListedLock, ShownSession } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';
import { formatTimeLeft, formatTimeSince } from './time.ts';

/** The holder of a lock, with the worker if it is one. */
export const describeHolder = (holder: string, sessions: ReadonlyMap<string, ShownSession>): string => {
  const session = sessions.get(holder);
  return session === undefined
    ? holder
    : `${holder}, worker ${session.worker_id} (${session.agent}), ${nameSessionState(session)}`;
};

/** Paths that a session has locked for a while. */
export const locksPane = definePane<ListedLock>({
  id: 'locks',
  digit: '',
  parent: 'bus',
  title: 'Locks',
  dataParts: ['locks'],
  findSubject: (_, id) => ({ kind: 'lock', id }),
  listRows: ({ locks }) => [...locks].sort((one, other) => one.fence - other.fence),
  getRowId: getLockId,
  findRow: (data, id) => data.locks.find((each) => getLockId(each) === id),
  fields: { path: (lock) => lock.path, holder: (lock) => lock.holder },
  columns: [
    { head: 'holder', width: 10, text: (lock) => lock.holder },
    {
      head: 'held',
      width: 4,
      align: 'right',
      text: (lock, { now }) => formatTimeSince(lock.acquired_at, now),
    },
    { head: 'left', width: 4, align: 'right', text: (lock, { now }) => formatTimeLeft(lock.expires_at, now) },
    { head: 'path', text: (lock) => lock.path },
  ],
  countUnfinished: ({ locks }) => locks.length,
  empty: ['No path is locked.', '', 'A worker takes a lock before it changes files that others change too.'],
  note: ({ lists }) => `${lists.locks.ids.length} held · Esc: messages`,
  renderPreview: (state, row, cells) => ({
    title: row.path,
    note: row.holder,
    lines: renderFacts(
      [
        ['path', row.path === '.' ? '. (all of the workspace)' : row.path],
        ['holder', describeHolder(row.holder, state.data.sessions)],
        ['title', state.data.sessions.get(row.holder)?.title],
        ['since', formatLocalTime(row.acquired_at)],
        ['until', formatLocalTime(row.expires_at)],
        ['grant', String(row.fence)],
      ],
      cells,
    ),
  }),
});
