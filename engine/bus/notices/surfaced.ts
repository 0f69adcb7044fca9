import { join } from 'node:path';
import { appendPrivate, makePrivateFolder, readPrivate } from '../../core/base/private-files.ts';

/**
 * Records which messages a hook has shown to a session: one file per session, one id per line. A missing or damaged
 * file only causes a message to be shown again.
 */
export interface SurfacedNotices {
  of(session: string): ReadonlySet<number>;
  add(session: string, ids: readonly number[]): void;
}

const MOST_BYTES = 64 * 1024 ** 2;

export const surfacedFolder = (data: string): string => join(data, 'notices', 'surfaced');

export function createSurfaced({ data }: { data: string }): SurfacedNotices {
  const folder = surfacedFolder(data);
  const file = (session: string): string => join(folder, `${session}.ids`);
  return {
    of(session) {
      try {
        return new Set((readPrivate(file(session), MOST_BYTES) ?? '').split('\n').map(Number));
      } catch {
        return new Set();
      }
    },
    add(session, ids) {
      if (ids.length === 0) return;
      try {
        makePrivateFolder(data, folder);
        // Starts on a new line, regardless of the last write.
        appendPrivate(file(session), `\n${ids.join('\n')}\n`);
      } catch {
        // Shown again next time.
      }
    },
  };
}
