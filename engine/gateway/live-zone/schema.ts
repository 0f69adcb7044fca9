import { join } from 'node:path';

/** Returns the path of the forwarded replacements: the gateway's process writes them, the engine reads them. */
export const forwardedPath = (data: string): string => join(data, 'forwarded.db');

export const FORWARDED_MIGRATIONS: readonly string[] = [
  `
-- Whole outputs of which something was left out.
CREATE TABLE kept_text (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- SHA-256, in hex.
  hash TEXT NOT NULL UNIQUE,
  -- Compressed (zstd).
  text BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  kind TEXT NOT NULL,
  -- Whose it is: a task, or a person.
  holder TEXT NOT NULL,
  -- When it was last forwarded.
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX kept_text_used ON kept_text (used_at);
-- What stands in the place of an output from then on, so that a conversation begins with the same bytes in each call.
CREATE TABLE forwarded (
  -- Whose conversation it is: a session, or a person.
  conversation TEXT NOT NULL,
  -- Of the string as it came, with its quotes.
  hash TEXT NOT NULL,
  -- The string that was forwarded, with its quotes.
  token TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (conversation, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX forwarded_used ON forwarded (used_at);
-- Without a word of any content. Empty session: a person.
CREATE TABLE saving (
  session TEXT NOT NULL PRIMARY KEY,
  calls INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  `
-- Of the string that came, with its quotes: shorter ones are not looked for.
ALTER TABLE forwarded ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
`,
  `
-- An output is known by the call that it answers: the same text elsewhere is another output. Earlier rows do not tell the
-- call, so that their conversations go on with the whole.
DROP TABLE forwarded;
CREATE TABLE forwarded (
  -- A session; a person and one conversation of theirs.
  conversation TEXT NOT NULL,
  -- The id of the call, after the number of equal outputs that answered one of this id before.
  call TEXT NOT NULL,
  -- Of the string as it came, with its quotes.
  hash TEXT NOT NULL,
  -- Its length: shorter ones are not looked for.
  bytes INTEGER NOT NULL,
  -- The string that was forwarded, with its quotes.
  token TEXT NOT NULL,
  -- Of the text that was kept, and its kind; empty where none was.
  text_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (conversation, call, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX forwarded_used ON forwarded (used_at);
`,
];
