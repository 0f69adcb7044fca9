import { join } from 'node:path';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Storage } from '../storage/index.ts';

/**
 * The callers whose calls are logged with their content: a session, `s-12`, or a person's key by its name,
 * `key:laptop`. None by default.
 */
export interface ContentChoices {
  list(): string[];
  /** Runs inside `storage.write`. Throws `usage` if too many callers are logged. */
  choose(holder: string): void;
  /** Runs inside `storage.write`. */
  drop(holders: readonly string[]): void;
}

/** The log is for inspecting single conversations, not for recording all of them. */
const MOST_LOGGED = 16;
/** The row of `meta`. */
const NAME = 'gateway_content_of';

export const nameRunHolder = (sessionId: number): string => `s-${sessionId}`;
export const namePersonHolder = (key: string): string => `key:${key}`;

/** Returns the log file for the content of a holder's calls. */
export const contentLogPath = (data: string, holder: string): string =>
  join(data, 'log', `content.${holder.replace(':', '.')}.log`);

export function createContentChoices({ db }: Pick<Storage, 'db'>): ContentChoices {
  const read = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const write = db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const listChoices = (): string[] => JSON.parse(read.get(NAME)?.value ?? '[]') as string[];
  return {
    list: listChoices,
    choose(holder) {
      const now = listChoices();
      if (now.includes(holder)) return;
      if (now.length >= MOST_LOGGED)
        throw new SvcError(
          'usage',
          `the content of ${MOST_LOGGED} callers is already logged, which is the maximum`,
          {
            hint: sentence`{gateway.status} lists them; end one of them first`,
          },
        );
      write.run(NAME, JSON.stringify([...now, holder]));
    },
    drop(holders) {
      write.run(NAME, JSON.stringify(listChoices().filter((each) => !holders.includes(each))));
    },
  };
}
