import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { redactSecrets } from '../../core/base/redact.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Db } from '../../storage/index.ts';
import { foldText } from '../search/index.ts';
import type { MemoryRow, MemoryState } from './rows.ts';
import { createWordIndex } from './word-index.ts';

/** The author of a memory. */
export interface MemoryAuthor {
  actor: string;
  seat: string;
  via: string;
  sessionId: string | null;
  taskId: string | null;
  agent: string | null;
  /** Why its memories wait for a person, as a clause; null if they do not. */
  unreviewed: string | null;
}

export interface NewRow {
  id: string;
  type: string;
  title: string;
  text: string;
  tags: string[];
  source: string | null;
  changedAt: number;
  okfPath: string | null;
  okfFrontmatter: string | null;
}

export type MemoryTable = ReturnType<typeof createMemoryTable>;

const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
/** The part of a memory id after `m-`. */
const ID_LENGTH = 10;

export const makeMemoryId = (): string =>
  `m-${Array.from(randomBytes(ID_LENGTH), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('')}`;

export const normalizeTitle = (title: string): string => foldText(title).replace(/\s+/g, ' ').trim();

const digestOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Removes secrets from a text and adds their kinds to `redacted`. */
export const cleaner =
  (redacted: Set<string>) =>
  (given: string): string => {
    const { text, kinds } = redactSecrets(given);
    for (const kind of kinds) redacted.add(kind);
    return text;
  };

/**
 * Owns the rows of the memory, their start and end, and the search data of active ones. Changes run inside
 * `storage.write`.
 */
export function createMemoryTable(db: Db, clock: Clock) {
  const words = createWordIndex(db);
  const insert = db.prepare<
    unknown[]
  >(`INSERT INTO memory (id, type, title, title_key, text, tags, source, digest,
    unreviewed, actor, seat, via, session_id, task_id, agent, created_at, changed_at, okf_path, okf_frontmatter)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const byId = db.prepare<unknown[], MemoryRow>('SELECT * FROM memory WHERE id = ?');
  const byPrefix = db.prepare<unknown[], MemoryRow>(
    'SELECT * FROM memory WHERE id >= ? AND id < ? ORDER BY id LIMIT 2',
  );
  const byDigest = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND digest = ? LIMIT 1",
  );
  const byContent = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state <> 'active' AND digest = ? LIMIT 1",
  );
  const end = db.prepare(
    'UPDATE memory SET state = ?, superseded_by = ?, ended_at = ?, maybe_replaced_by = NULL WHERE number = ?',
  );
  const setSuccessor = db.prepare('UPDATE memory SET maybe_replaced_by = ? WHERE number = ?');
  const passOnSuccessor = db.prepare(
    'UPDATE memory SET maybe_replaced_by = nullif(?, id) WHERE maybe_replaced_by = ?',
  );

  /** Returns the only row whose id starts with this prefix. Throws `not_found`, `conflict`. */
  function resolve(id: string): MemoryRow {
    const wanted = id.startsWith('m-') ? id : `m-${id}`;
    const exact = byId.get(wanted);
    if (exact !== undefined) return exact;
    const [first, second] = wanted.length > 3 ? byPrefix.all(wanted, `${wanted}\u{10ffff}`) : [];
    if (first === undefined)
      throw new SvcError('not_found', `no memory ${JSON.stringify(id.slice(0, 60))}`, {
        hint: sentence`{memory.list} lists them`,
      });
    if (second !== undefined)
      throw new SvcError('conflict', `several memories start with ${wanted}`, {
        hint: 'give more characters of the id',
      });
    return first;
  }

  function resolveActive(id: string): MemoryRow {
    const row = resolve(id);
    if (row.state === 'active') return row;
    throw new SvcError('conflict', `${row.id} is ${row.state} already`, {
      hint: row.superseded_by === null ? 'remember it again' : `${row.superseded_by} replaced it`,
    });
  }

  function endRow(
    row: MemoryRow,
    state: MemoryState,
    supersededBy: string | null = null,
    at: number = clock.now(),
  ): void {
    end.run(state, supersededBy, at, row.number);
    passOnSuccessor.run(supersededBy, row.id);
    words.remove(row.number);
  }

  function insertRow(row: NewRow, author: MemoryAuthor): MemoryRow {
    const { id, type, title, text, tags, source, changedAt, okfPath, okfFrontmatter } = row;
    const { actor, seat, via, sessionId, taskId, agent } = author;
    const digest = digestOf([type, title, text]);
    insert.run(
      ...[id, type, title, normalizeTitle(title), text, JSON.stringify(tags), source, digest],
      ...[author.unreviewed, actor, seat, via, sessionId, taskId, agent, clock.now(), changedAt],
      ...[okfPath, okfFrontmatter],
    );
    return resolve(id);
  }

  return {
    words,
    resolve,
    resolveActive,
    insertRow,
    endRow,

    find: (id: string): MemoryRow | undefined => byId.get(id),

    /** Marks a row as perhaps replaced by another one; null removes the mark. */
    markReplaced(row: MemoryRow, successor: string | null): void {
      setSuccessor.run(successor, row.number);
    },

    /** Returns the active row with exactly this text. */
    findActive: (type: string, title: string, text: string): MemoryRow | undefined =>
      byDigest.get(digestOf([type, title, text])),

    /** Returns an ended row with this text. */
    findEnded: (type: string, title: string, text: string): MemoryRow | undefined =>
      byContent.get(digestOf([type, title, text])),

    says: (row: MemoryRow, type: string, title: string, text: string): boolean =>
      row.digest === digestOf([type, title, text]),
  };
}
