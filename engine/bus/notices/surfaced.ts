import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Which messages a hook has shown to a session already: one file a session, one id a line. A file that is missing or
 * damaged only means that a message is shown again.
 */
export interface Surfaced {
  of(session: string): ReadonlySet<number>;
  add(session: string, ids: readonly number[]): void;
}

export const surfacedFolder = (data: string): string => join(data, 'notices', 'surfaced');

export function createSurfaced({ data }: { data: string }): Surfaced {
  const folder = surfacedFolder(data);
  const file = (session: string): string => join(folder, `${session}.ids`);
  return {
    of(session) {
      try {
        return new Set(readFileSync(file(session), 'utf8').split('\n').map(Number));
      } catch {
        return new Set();
      }
    },
    add(session, ids) {
      if (ids.length === 0) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        // Begins on a line of its own, whatever the last write left.
        appendFileSync(file(session), `\n${ids.join('\n')}\n`, { mode: 0o600 });
      } catch {
        // Shown again next time.
      }
    },
  };
}
