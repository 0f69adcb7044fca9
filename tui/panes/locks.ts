import { formatLocalTime } from '../../engine/index.ts';
import type { LockRow, SessionRow } from '../state/model.ts';
import { factLines } from '../text.ts';
import { pane } from './pane.ts';
import { left, sessionState, since } from './words.ts';

/** Who that is, for a lock or a question about one. */
export const holderOf = (holder: string, sessions: ReadonlyMap<string, SessionRow>): string => {
  const session = sessions.get(holder);
  return session === undefined
    ? holder
    : `${holder}, worker ${session.worker_id} (${session.agent}), ${sessionState(session)}`;
};

/** Paths that a session has for itself for a while. */
export const locksPane = pane<LockRow>({
  id: 'locks',
  digit: '',
  under: 'bus',
  title: 'Locks',
  from: ['locks'],
  rows: ({ locks }) => [...locks].sort((one, other) => one.fence - other.fence),
  idOf: (lock) => lock.path,
  row: (data, id) => data.locks.find((each) => each.path === id),
  fields: { path: (lock) => lock.path, holder: (lock) => lock.holder },
  columns: [
    { head: 'holder', width: 10, text: (lock) => lock.holder },
    { head: 'held', width: 4, align: 'right', text: (lock, { now }) => since(lock.acquired_at, now) },
    { head: 'left', width: 4, align: 'right', text: (lock, { now }) => left(lock.expires_at, now) },
    { head: 'path', text: (lock) => lock.path },
  ],
  count: ({ locks }) => locks.length,
  empty: ['No path is locked.', '', 'A worker takes a lock before it changes what others change too.'],
  note: ({ lists }) => `${lists.locks.ids.length} held · Esc: messages`,
  preview: (state, row, cells) => ({
    title: row.path,
    note: row.holder,
    lines: factLines(
      [
        ['path', row.path === '.' ? '. (all of the workspace)' : row.path],
        ['holder', holderOf(row.holder, state.data.sessions)],
        ['title', state.data.sessions.get(row.holder)?.title],
        ['since', formatLocalTime(row.acquired_at)],
        ['until', formatLocalTime(row.expires_at)],
        ['grant', String(row.fence)],
      ],
      cells,
    ),
  }),
});
