import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import { makeTitle } from '../../base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { foldText } from '../search/index.ts';
import type { SkippedFile } from './okf/bundle.ts';
import { type Concept, forgetContent, isSameAbout, writeFrontmatter } from './okf/concept.ts';
import type { Exported } from './okf/export.ts';
import { nameOf, placeConcept } from './okf/folder-text.ts';
import type { FoundConcept } from './okf/import.ts';
import { describeRow, type WritingDeps } from './okf/written.ts';
import { redactSecrets } from './redact.ts';
import {
  type Brief,
  type BriefRow,
  LONGEST_TEXT,
  LONGEST_TITLE,
  type Memory,
  type MemoryRow,
  type MemoryState,
  toBrief,
  toMemory,
} from './rows.ts';
import { createWordIndex } from './word-index.ts';

/** What is to be remembered. */
export interface NewMemory {
  text: string;
  title?: string | undefined;
  type?: string | undefined;
  tags?: readonly string[] | undefined;
  source?: string | undefined;
}

/** Who remembers. */
export interface Author {
  actor: string;
  seat: string;
  via: string;
  sessionId: string | null;
  taskId: string | null;
  agent: string | null;
  /** Why what it stores waits for a person, a clause; null when it does not. */
  unreviewed: string | null;
}

interface NewRow {
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

export interface Remembered {
  memory: Memory;
  /** False for an exact repeat of an active row, which is answered instead. */
  isNew: boolean;
  /** Kinds of secrets that were left out. */
  redacted: string[];
  /** Ids of active rows of the same type and title with another text. */
  conflicts: string[];
}

/** What came of an import: how many concepts, and what was left out. */
export interface Imported {
  added: number;
  replaced: number;
  unchanged: number;
  skipped: SkippedFile[];
  /** Kinds of secrets that were left out. */
  redacted: string[];
}

type Adopted = 'added' | 'replaced' | 'unchanged' | { skipped: string };

export interface MemoryStoreDeps extends WritingDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

const DAY_MS = 86_400_000;
const MOST_BRIEFS = 1000;
export const DEFAULT_TYPE = 'fact';
const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
/** Of a memory id after its `m-`. */
const ID_LENGTH = 10;

export const makeMemoryId = (): string =>
  `m-${Array.from(randomBytes(ID_LENGTH), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('')}`;

const normalizeTitle = (title: string): string => foldText(title).replace(/\s+/g, ' ').trim();

const digestOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Owns the rows of the memory and what they are found by. What changes them runs inside `storage.write`. */
export function createMemoryStore({ storage, events, clock, ...writing }: MemoryStoreDeps) {
  const { db } = storage;
  const { retentionDays } = writing;
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
  const everything = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE @all OR state = 'active' ORDER BY changed_at DESC, number DESC LIMIT +@limit",
  );
  const sameTitle = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND title_key = ? AND id <> ? ORDER BY changed_at",
  );
  const conflicting = db.prepare<
    unknown[],
    { type: string; title_key: string }
  >(`SELECT type, title_key FROM memory
    WHERE state = 'active' GROUP BY type, title_key HAVING count(*) > 1 ORDER BY max(changed_at) DESC LIMIT +?`);
  const newest = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' ORDER BY changed_at DESC, number DESC LIMIT +?",
  );
  const newestOf = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? ORDER BY changed_at DESC, number DESC LIMIT +?",
  );
  const unreviewed = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND unreviewed IS NOT NULL ORDER BY number LIMIT +?",
  );
  const countActive = db.prepare<unknown[], { n: number }>(
    "SELECT count(*) AS n FROM memory WHERE state = 'active'",
  );
  const overdue = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ?",
  );
  const anyOverdue = db.prepare<unknown[], { n: number }>(
    "SELECT 1 AS n FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ? LIMIT 1",
  );
  const end = db.prepare('UPDATE memory SET state = ?, superseded_by = ?, ended_at = ? WHERE number = ?');
  const putBrief = db.prepare(`INSERT INTO memory_briefs (session_id, task_id, at, ids, bytes)
    VALUES (@sessionId, @taskId, @at, @ids, @bytes) ON CONFLICT (session_id) DO UPDATE
    SET at = excluded.at, ids = excluded.ids, bytes = excluded.bytes`);
  const dropBriefs = db.prepare(
    'DELETE FROM memory_briefs WHERE at < (SELECT at FROM memory_briefs ORDER BY at DESC LIMIT 1 OFFSET +?)',
  );
  const lastBrief = db.prepare<unknown[], BriefRow>('SELECT * FROM memory_briefs ORDER BY at DESC LIMIT 1');
  const briefOf = db.prepare<unknown[], BriefRow>('SELECT * FROM memory_briefs WHERE session_id = ?');
  const keepOkf = db.prepare('UPDATE memory SET okf_path = ?, okf_frontmatter = ? WHERE number = ?');
  const markKept = db.prepare(
    'UPDATE memory SET unreviewed = NULL, kept_by = ?, kept_at = ? WHERE number = ?',
  );

  function tell(
    memory: Pick<Memory, 'id' | 'type'>,
    change: string,
    by: { actor: string; via: string },
  ): void {
    events.append({ kind: 'memory_changed', ...by, data: { id: memory.id, type: memory.type, change } });
  }

  /** The one row whose id begins so. Throws `not_found`, `conflict`. */
  function resolve(id: string): MemoryRow {
    const wanted = id.startsWith('m-') ? id : `m-${id}`;
    const exact = byId.get(wanted);
    if (exact !== undefined) return exact;
    const [first, second] = wanted.length > 3 ? byPrefix.all(wanted, `${wanted}\u{10ffff}`) : [];
    if (first === undefined)
      throw new SvcError('not_found', `no memory ${JSON.stringify(id.slice(0, 60))}`, {
        hint: sentence`{memory.list} shows them`,
      });
    if (second !== undefined)
      throw new SvcError('conflict', `several memories begin with ${wanted}`, {
        hint: 'give more of the id',
      });
    return first;
  }

  function resolveActive(id: string): MemoryRow {
    const row = resolve(id);
    if (row.state === 'active') return row;
    throw new SvcError('conflict', `${row.id} is ${row.state} already`, {
      hint: row.superseded_by === null ? 'remember it anew' : `${row.superseded_by} stands in its place`,
    });
  }

  function endRow(row: MemoryRow, state: MemoryState, supersededBy: string | null = null): void {
    end.run(state, supersededBy, clock.now(), row.number);
    words.remove(row.number);
  }

  /** A text without its secrets; what they were is added to `redacted`. */
  const cleaner =
    (redacted: Set<string>) =>
    (given: string): string => {
      const { text, kinds } = redactSecrets(given);
      for (const kind of kinds) redacted.add(kind);
      return text;
    };

  function insertRow(row: NewRow, author: Author): MemoryRow {
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

  function remember(
    wanted: NewMemory,
    author: Author,
    by: { actor: string; via: string },
    okf: Pick<NewRow, 'okfPath' | 'okfFrontmatter'> = { okfPath: null, okfFrontmatter: null },
  ): Remembered {
    const redacted = new Set<string>();
    const clean = cleaner(redacted);
    const text = clean(wanted.text);
    const type = wanted.type ?? DEFAULT_TYPE;
    const title = clean(wanted.title ?? makeTitle(text));
    const tags = [...new Set((wanted.tags ?? []).map(clean))];
    const source = wanted.source === undefined ? null : clean(wanted.source);
    const same = byDigest.get(digestOf([type, title, text]));
    if (same !== undefined)
      return { memory: toMemory(same), isNew: false, redacted: [...redacted], conflicts: [] };
    const row = insertRow(
      { id: makeMemoryId(), type, title, text, tags, source, changedAt: clock.now(), ...okf },
      author,
    );
    words.add(row);
    tell(row, 'remembered', by);
    return {
      memory: toMemory(row),
      isNew: true,
      redacted: [...redacted],
      conflicts: sameTitle.all(type, row.title_key, row.id).map((each) => each.id),
    };
  }

  /** The row with this content: the one of that id, or an active one, or one that has ended where `isEnded`. */
  function findSame(
    { type, title, text }: Pick<Concept, 'type' | 'title' | 'text'>,
    id: string | null,
    isEnded: boolean,
  ): MemoryRow | undefined {
    const digest = digestOf([type, title, text]);
    const known = id === null ? undefined : byId.get(id);
    if (known !== undefined) return known.digest === digest ? known : undefined;
    if (id !== null && isEnded) return undefined;
    return byDigest.get(digest) ?? (isEnded ? byContent.get(digest) : undefined);
  }

  /** Whether a row would be written with the same frontmatter, but for what its state says. */
  const saysSame = (row: MemoryRow, frontmatter: string, path: string): boolean =>
    row.okf_frontmatter === frontmatter ||
    isSameAbout(writeFrontmatter(describeRow(row, writing), row.okf_frontmatter, nameOf(path)), frontmatter);

  function adopt(
    found: FoundConcept,
    author: Author,
    { mayReplace, redacted }: { mayReplace: boolean; redacted: Set<string> },
  ): Adopted {
    const clean = cleaner(redacted);
    const title = clean(found.title);
    const text = clean(found.text);
    const { type, path, own } = found;
    if (title.length > LONGEST_TITLE)
      return { skipped: `its title has more than ${LONGEST_TITLE} characters` };
    if (text.length > LONGEST_TEXT) return { skipped: `its text has more than ${LONGEST_TEXT} characters` };
    const tags = [...new Set(found.tags.map(clean))];
    const source = found.source === null ? null : clean(found.source);
    const given = clean(found.frontmatter);
    const known = own === null ? undefined : byId.get(own.id);
    const isEnded = found.status === 'deprecated';
    const same = findSame({ type, title, text }, own === null ? null : own.id, isEnded);
    if (same !== undefined) {
      // Only what stands beside the content is another.
      if (!mayReplace || saysSame(same, given, path)) return 'unchanged';
      keepOkf.run(same.okf_path, given, same.number);
      return 'replaced';
    }
    if (known !== undefined && known.state !== 'active')
      return { skipped: `${known.id} is ${known.state} here` };
    if (known !== undefined && !mayReplace)
      return { skipped: `${known.id} says something else here, and only the Chair replaces it` };
    const now = clock.now();
    const changedAt = known === undefined ? Math.min(found.changedAt ?? now, now) : now;
    const id = known === undefined && own !== null ? own.id : makeMemoryId();
    const row = insertRow(
      { id, type, title, text, tags, source, changedAt, okfPath: null, okfFrontmatter: null },
      {
        ...author,
        unreviewed: author.unreviewed ?? (found.status === 'draft' ? 'it was imported as a draft' : null),
      },
    );
    if (isEnded)
      end.run(own?.state ?? 'forgotten', own?.supersededBy ?? null, own?.endedAt ?? now, row.number);
    const ended = resolve(id);
    // A frontmatter that says nothing else than svc would need not be kept.
    const frontmatter = known === undefined ? given : forgetContent(given);
    const usual = describeRow(ended, writing);
    const okfPath = path === placeConcept(usual) ? null : path;
    const isUsual = okfPath === null && writeFrontmatter(usual, null, '') === frontmatter;
    keepOkf.run(okfPath, isUsual ? null : frontmatter, row.number);
    const kept = resolve(id);
    if (!isEnded) words.add(kept);
    if (known === undefined) return 'added';
    endRow(known, 'superseded', id);
    return 'replaced';
  }

  /** A person has looked at it: it may enter briefs. */
  function keep(id: string, by: { actor: string; via: string }): Memory {
    const row = resolveActive(id);
    if (row.unreviewed !== null) {
      markKept.run(by.actor, clock.now(), row.number);
      tell(row, 'kept', by);
    }
    return toMemory(resolve(row.id));
  }

  const limits = (): [type: string, before: number][] =>
    Object.entries(retentionDays())
      .filter(([, days]) => days > 0)
      .map(([type, days]) => [type, clock.now() - days * DAY_MS]);

  return {
    remember,

    /** The newest, ended ones as well with `all`, as they are written into a bundle. */
    listForExport: (all: boolean, limit: number): Exported[] =>
      everything.all({ all: all ? 1 : 0, limit }).map((row) => ({ row, written: describeRow(row, writing) })),

    /** Whether all that a file says is remembered, as active or not. */
    knows(concept: FoundConcept): boolean {
      const same = findSame(concept, concept.own?.id ?? null, true) ?? findSame(concept, null, true);
      return same !== undefined && saysSame(same, concept.frontmatter, concept.path);
    },

    /**
     * Takes in the concepts of a bundle. Without `mayReplace` a file never stands in the place of what is remembered.
     * What svc wrote itself and has not been changed since stays as it is.
     */
    importConcepts(
      concepts: readonly FoundConcept[],
      author: Author,
      mayReplace: boolean,
      by: { actor: string; via: string },
    ): Imported {
      const done: Imported = { added: 0, replaced: 0, unchanged: 0, skipped: [], redacted: [] };
      const redacted = new Set<string>();
      words.inBulk(() => {
        for (const each of concepts) {
          const came = adopt(each, author, { mayReplace, redacted });
          if (typeof came === 'string') done[came] += 1;
          else done.skipped.push({ path: each.path, reason: came.skipped });
        }
      });
      const { added, replaced } = done;
      if (added + replaced > 0)
        events.append({ kind: 'memory_changed', ...by, data: { change: 'imported', added, replaced } });
      return { ...done, redacted: [...redacted] };
    },
    resolve: (id: string): Memory => toMemory(resolve(id)),

    list: (limit: number, type?: string): Memory[] =>
      (type === undefined ? newest.all(limit) : newestOf.all(type, limit)).map(toMemory),

    countActive: (): number => countActive.get()?.n ?? 0,

    /** What waits for a person, oldest first. */
    listUnreviewed: (limit: number): Memory[] => unreviewed.all(limit).map(toMemory),

    /** Active memories that say different things under one title, newest last in each. */
    conflicts: (limit = 200): Memory[][] =>
      conflicting.all(limit).map(({ type, title_key }) => sameTitle.all(type, title_key, '').map(toMemory)),

    forget(id: string, by: { actor: string; via: string }): Memory {
      const row = resolve(id);
      if (row.state === 'active') {
        endRow(row, 'forgotten');
        tell(row, 'forgotten', by);
      }
      return toMemory(resolve(row.id));
    },

    keep,

    /** Ends the others of its type and title; the one that is left says what counts, and so is kept. */
    settle(id: string, by: { actor: string; via: string }): { memory: Memory; superseded: string[] } {
      const memory = keep(id, by);
      const others = sameTitle.all(memory.type, normalizeTitle(memory.title), memory.id);
      for (const each of others) {
        endRow(each, 'superseded', memory.id);
        tell(each, 'superseded', by);
      }
      return { memory, superseded: others.map((each) => each.id) };
    },

    /** Another wording: a new row in place of the old one. */
    edit(
      id: string,
      changes: Omit<NewMemory, 'text'> & { text?: string | undefined },
      author: Author,
      by: { actor: string; via: string },
    ): Remembered {
      const row = resolveActive(id);
      const next = {
        text: changes.text ?? row.text,
        title: changes.title ?? row.title,
        type: changes.type ?? row.type,
        tags: changes.tags ?? (JSON.parse(row.tags) as string[]),
        source: changes.source ?? row.source ?? undefined,
      };
      const { number } = row;
      const isReworded = next.text !== row.text;
      const okfFrontmatter =
        row.okf_frontmatter !== null && isReworded ? forgetContent(row.okf_frontmatter) : row.okf_frontmatter;
      const done = remember(next, author, by, { okfPath: row.okf_path, okfFrontmatter });
      if (done.memory.id === row.id) return done;
      end.run('superseded', done.memory.id, clock.now(), number);
      words.remove(number);
      tell(row, 'superseded', by);
      return { ...done, conflicts: done.conflicts.filter((each) => each !== row.id) };
    },

    /** What a session's worker was given; only of the last thousand sessions is it kept. */
    recordBrief(given: { sessionId: string; taskId: string; ids: readonly string[]; bytes: number }): void {
      putBrief.run({ ...given, ids: JSON.stringify(given.ids), at: clock.now() });
      dropBriefs.run(MOST_BRIEFS);
    },

    /** The newest, or that of a session. */
    findBrief(sessionId?: string): Brief | null {
      const row = sessionId === undefined ? lastBrief.get() : briefOf.get(sessionId);
      return row === undefined ? null : toBrief(row);
    },

    /** Other active rows of its type and title, newest last. */
    listAgainst: ({ id, type, title }: Memory): Memory[] =>
      sameTitle.all(type, normalizeTitle(title), id).map(toMemory),

    countUnreviewed: (): number => unreviewed.all(1000).length,

    isIndexCurrent: words.isCurrent,
    rebuildIndex: words.rebuild,

    /** Whether something is past its retention and still active. */
    isSweepDue: (): boolean => limits().some(([type, before]) => anyOverdue.get(type, before) !== undefined),

    /** Ends what is past its retention. Answers the ids. */
    sweep(by: { actor: string; via: string }): string[] {
      return limits().flatMap(([type, before]) =>
        overdue.all(type, before).map((row) => {
          endRow(row, 'expired');
          tell(row, 'expired', by);
          return row.id;
        }),
      );
    },
  };
}
