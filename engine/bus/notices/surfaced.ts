import { join } from 'node:path';
import { appendPrivate, makePrivateFolder, readPrivate } from '../../base/private-files.ts';

/**
 * Which messages a hook has shown to a session already: one file a session, one id a line. A file that is missing or
 * damaged only means that a message is shown again.
 */
export interface Surfaced {
  of(session: string): ReadonlySet<number>;
  add(session: string, ids: readonly number[]): void;
}

const MOST_BYTES = 64 * 1024 ** 2;

export const surfacedFolder = (data: string): string => join(data, 'notices', 'surfaced');

export function createSurfaced({ data }: { data: string }): Surfaced {
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
        // Begins on a line of its own, whatever the last write left.
        appendPrivate(file(session), `\n${ids.join('\n')}\n`);
      } catch {
        // Shown again next time.
      }
    },
  };
}
