import type { SurfacedNotices } from '../notices/surfaced.ts';
import type { MessageReader, Messages } from './index.ts';
import type { MessageRow } from './rows.ts';

const MAX = 500;

/** Lists unread messages that a session has not been shown yet, oldest first, and marks them as shown. */
export const createSurface =
  ({ messages, surfaced }: { messages: Messages; surfaced: SurfacedNotices }) =>
  (reader: MessageReader): MessageRow[] => {
    const { rows } = messages.inbox(reader, { limit: MAX, unread: true });
    if (reader.session === null || rows.length === 0) return rows;
    const seen = surfaced.of(reader.session);
    const fresh = rows.filter((row) => !seen.has(row.id));
    surfaced.add(
      reader.session,
      fresh.map((row) => row.id),
    );
    return fresh;
  };
