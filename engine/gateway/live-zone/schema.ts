import { join } from 'node:path';

/** Returns the path of the forwarded replacements: the gateway's process writes them, the engine reads them. */
export const forwardedPath = (data: string): string => join(data, 'forwarded.db');

export const FORWARDED_SCHEMA = `
-- Whole outputs of which something was left out.
CREATE TABLE kept_text (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- SHA-256, in hex.
  hash TEXT NOT NULL UNIQUE,
  -- Compressed (zstd).
  text BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  kind TEXT NOT NULL,
  -- A task, or a person.
  holder TEXT NOT NULL,
  -- When it was last forwarded.
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX kept_text_used ON kept_text (used_at);

-- The replacement of an output in its conversation, so that each call starts with the same bytes. An output is identified
-- by the call that it answers: the same text elsewhere is another output.
CREATE TABLE forwarded (
  -- A session; a person and one of their conversations.
  conversation TEXT NOT NULL,
  -- The id of the call, after the number of equal outputs that answered one of this id before.
  call TEXT NOT NULL,
  -- Hash of the string as it came, with its quotes.
  hash TEXT NOT NULL,
  -- Its length: shorter ones are not looked for.
  bytes INTEGER NOT NULL,
  -- The string that was forwarded, with its quotes.
  token TEXT NOT NULL,
  -- Hash and kind of the stored text; empty if none was stored.
  text_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (conversation, call, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX forwarded_used ON forwarded (used_at);

-- Bytes saved, without any content. Empty session: a person.
CREATE TABLE saving (
  session TEXT NOT NULL PRIMARY KEY,
  calls INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
