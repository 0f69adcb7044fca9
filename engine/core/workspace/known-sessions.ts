import { join } from 'node:path';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { platform } from '../platform/index.ts';

/** A process session (setsid(2)), identified by its leader. */
export interface SessionLeader {
  pid: number;
  start: string;
}

/** The process sessions from which a person has used svc since the boot, as recorded by engines. */
export interface KnownSessions {
  has(leader: SessionLeader): boolean;
  add(leader: SessionLeader): void;
}

const MOST_BYTES = 16 * 1024;
const MOST_SESSIONS = 64;

const nameLeader = ({ pid, start }: SessionLeader): string => `${pid} ${start}`;

/** Opens the list in a data folder. Unwritable entries are kept while this process runs. */
export function openKnownSessions(data: string): KnownSessions {
  const file = join(data, 'known-sessions.json');
  const boot = platform.readBootId();
  let names: string[] | null = null;
  const readNames = (): string[] => {
    names ??= parseNames(readPrivate(file, MOST_BYTES), boot);
    return names;
  };
  return {
    has: (leader) => readNames().includes(nameLeader(leader)),
    add(leader) {
      const name = nameLeader(leader);
      if (boot === null || readNames().includes(name)) return;
      names = [...readNames(), name].slice(-MOST_SESSIONS);
      try {
        replacePrivate(file, JSON.stringify({ boot, names }));
      } catch {
        // A full disk must not lock anyone out.
      }
    },
  };
}

function parseNames(text: string | null, boot: string | null): string[] {
  try {
    const kept = JSON.parse(text ?? 'null') as { boot: string; names: string[] } | null;
    return kept?.boot === boot && Array.isArray(kept?.names) ? kept.names : [];
  } catch {
    return [];
  }
}
