import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { makePrivateFile } from '../../core/base/private-files.ts';
import { applySchema } from '../../storage/index.ts';
import { FORWARDED_SCHEMA, forwardedPath } from './schema.ts';

/** An output in a conversation: the call that it answers, and the hash of the incoming string. */
export interface OutputPlace {
  call: string;
  hash: string;
}

/** An output in its conversation. */
export interface ConversationOutput extends OutputPlace {
  conversation: string;
  /** Length of the incoming string, in bytes. */
  bytes: number;
}

/** The string that replaces an output; a promise while it is shortened, with null for an output that stays whole. */
export type OutputToken = string | Promise<string | null>;

/** A replacement that is forwarded for an output for the first time. */
export interface NewForward extends ConversationOutput {
  token: string;
  /** The owner of the conversation and of the text. */
  holder: string;
  /** Null for a person. */
  session: string | null;
  /** The whole output and its hash; null if it is not stored. */
  text: KeptText | null;
  bytesIn: number;
  bytesOut: number;
}

/** An output that is forwarded again, with a way to read its whole text. */
export interface RepeatedOutput extends OutputPlace {
  readWhole(): string;
}

interface KeptText {
  whole: string;
  hash: string;
  kind: string;
}

/** The replacements for strings of a conversation. */
export interface KnownForwards {
  /** By the hash of the incoming string and the call that it answers. */
  tokens: ReadonlyMap<string, ReadonlyMap<string, OutputToken>>;
  /** Length of the shortest incoming string, in bytes; infinite if there are none. */
  shortest: number;
}

/** Owns the database of forwarded replacements. */
export interface ForwardedTexts {
  findKnown(conversation: string): KnownForwards;
  /** Saves a replacement to disk, all or nothing. */
  save(forward: NewForward): void;
  /** Remembers what replaces an output, which another thread saves; null to forget it. */
  setToken(output: ConversationOutput, token: OutputToken | null): void;
  /** Records that outputs were forwarded again: they stay for the life of the conversation, and a missing text is stored again. */
  touch(conversation: string, again: readonly RepeatedOutput[], holder: string): void;
  /** Removes replacements that were not forwarded for a long time. */
  sweep(idleMs: number): void;
  close(): void;
}

/** A conversation may resume after that long with the same bytes. */
const REMEMBERED_MS = 7 * 86_400_000;
const MOST_CONVERSATIONS = 64;
/** The use of a text is not recorded at every call. */
const TOUCH_MS = 60_000;
/** Compressed size of all whole outputs. */
const MOST_BYTES = 256 * 1024 * 1024;

interface Conversation {
  tokens: Map<string, Map<string, OutputToken>>;
  shortest: number;
}

/** The replacements of the conversations that were used last. */
function createConversations(db: Database.Database) {
  const selectOf = db.prepare<[string], { call: string; hash: string; token: string; bytes: number }>(
    'SELECT call, hash, token, bytes FROM forwarded WHERE conversation = ?',
  );
  const conversations = new Map<string, Conversation>();

  function loadConversation(conversation: string): Conversation {
    const known = conversations.get(conversation);
    // Inserted again so that the least recently used entry comes first.
    conversations.delete(conversation);
    const found = known ?? readConversation(conversation);
    conversations.set(conversation, found);
    const [oldest] = conversations.keys();
    if (conversations.size > MOST_CONVERSATIONS && oldest !== undefined) conversations.delete(oldest);
    return found;
  }

  function readConversation(conversation: string): Conversation {
    const found: Conversation = { tokens: new Map(), shortest: Number.POSITIVE_INFINITY };
    for (const row of selectOf.all(conversation)) remember(found, row, row.token);
    return found;
  }

  function remember(
    known: Conversation,
    { call, hash, bytes }: Omit<ConversationOutput, 'conversation'>,
    token: OutputToken,
  ): void {
    const calls = known.tokens.get(hash);
    if (calls === undefined) known.tokens.set(hash, new Map([[call, token]]));
    else calls.set(call, token);
    known.shortest = Math.min(known.shortest, bytes);
  }

  return {
    load: loadConversation,
    setToken(output: ConversationOutput, token: OutputToken | null): void {
      const known = loadConversation(output.conversation);
      if (token === null) known.tokens.get(output.hash)?.delete(output.call);
      else remember(known, output, token);
    },
    forgetAll: () => conversations.clear(),
  };
}

/** Opens the database below a data folder. Throws `storage_newer`. */
export function openForwarded(data: string, now: () => number): ForwardedTexts {
  const path = forwardedPath(data);
  makePrivateFile(path);
  const db = new Database(path, { timeout: 250 });
  db.pragma('trusted_schema = OFF');
  db.pragma('journal_mode = WAL');
  // A marker must name a text that is on disk, even after a power cut.
  db.pragma('synchronous = FULL');
  db.pragma('cache_size = -1000');
  applySchema(db, path, [FORWARDED_SCHEMA]);

  const put =
    db.prepare(`INSERT OR IGNORE INTO forwarded (conversation, call, hash, bytes, token, text_hash, kind, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const keepText = db.prepare(`INSERT INTO kept_text (hash, text, bytes, kind, holder, used_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at`);
  const save = db.prepare(`INSERT INTO saving (session, calls, bytes_in, bytes_out, last_at)
    VALUES (?, 1, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET calls = calls + 1,
    bytes_in = bytes_in + excluded.bytes_in, bytes_out = bytes_out + excluded.bytes_out, last_at = excluded.last_at`);
  const touchForward = db.prepare<unknown[], { text_hash: string; kind: string }>(
    'UPDATE forwarded SET used_at = ? WHERE conversation = ? AND call = ? AND hash = ? RETURNING text_hash, kind',
  );
  const touchText = db.prepare('UPDATE kept_text SET used_at = ? WHERE hash = ?');
  const dropForwards = db.prepare('DELETE FROM forwarded WHERE used_at < ?');
  const dropTexts = db.prepare('DELETE FROM kept_text WHERE used_at < ?');
  const sumTexts = db.prepare<[], { bytes: number }>(
    'SELECT coalesce(sum(length(text)), 0) AS bytes FROM kept_text',
  );
  const dropOldest = db.prepare(
    'DELETE FROM kept_text WHERE number IN (SELECT number FROM kept_text ORDER BY used_at LIMIT 16)',
  );

  const conversations = createConversations(db);
  const touchedAt = new Map<string, number>();

  const keep = ({ hash, whole, kind }: KeptText, holder: string): void =>
    void keepText.run(hash, zstdCompressSync(whole), Buffer.byteLength(whole), kind, holder, now());
  const addAll = db.transaction((forward: NewForward) => {
    const { conversation, call, hash, bytes, token, text, session, holder, bytesIn, bytesOut } = forward;
    if (text !== null) keep(text, holder);
    put.run(conversation, call, hash, bytes, token, text?.hash ?? '', text?.kind ?? '', now());
    save.run(session ?? '', bytesIn, bytesOut, now());
  });
  const touchAll = db.transaction(
    (conversation: string, again: readonly RepeatedOutput[], holder: string) => {
      for (const { call, hash, readWhole } of again) {
        const row = touchForward.get(now(), conversation, call, hash);
        if (row === undefined || row.text_hash === '') continue;
        if (touchText.run(now(), row.text_hash).changes === 0)
          keep({ hash: row.text_hash, whole: readWhole(), kind: row.kind }, holder);
      }
    },
  );

  return {
    findKnown: conversations.load,
    save: (forward) => addAll.immediate(forward),
    setToken: conversations.setToken,
    touch(conversation, again, holder) {
      if (now() - (touchedAt.get(conversation) ?? 0) < TOUCH_MS) return;
      touchAll.immediate(conversation, again, holder);
      // In the order of their last use.
      touchedAt.delete(conversation);
      touchedAt.set(conversation, now());
      const [oldest] = touchedAt.keys();
      if (touchedAt.size > MOST_CONVERSATIONS && oldest !== undefined) touchedAt.delete(oldest);
    },
    sweep(idleMs) {
      // A forgotten entry must not stay in memory, because its text is gone too.
      if (dropForwards.run(now() - REMEMBERED_MS).changes > 0) conversations.forgetAll();
      if (idleMs > 0) dropTexts.run(now() - idleMs);
      for (let room = sumTexts.get()?.bytes ?? 0; room > MOST_BYTES; room = sumTexts.get()?.bytes ?? 0)
        if (dropOldest.run().changes === 0) return;
    },
    close: () => void db.close(),
  };
}
