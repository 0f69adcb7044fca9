/** Texts kept out of agents' contexts, and their search index. */
export const storedTextsSchema = `
-- Their bytes are in files named by their hash; rows remain for some time after that.
CREATE TABLE stored_text (
  number INTEGER PRIMARY KEY,
  -- c- and the start of the hash.
  id TEXT NOT NULL UNIQUE,
  -- SHA-256 of the bytes, in hex.
  hash TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  -- The recognised kind, such as tests or json.
  kind TEXT NOT NULL,
  exit_code INTEGER,
  created_at INTEGER NOT NULL,
  -- When it was last stored or read.
  used_at INTEGER NOT NULL,
  -- When its file was removed; NULL while it has one.
  ended_at INTEGER,
  -- 1 if its chunks exist.
  is_indexed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX stored_text_kept ON stored_text (used_at) WHERE ended_at IS NULL;
CREATE INDEX stored_text_ended ON stored_text (ended_at) WHERE ended_at IS NOT NULL;

-- Who has stored or read it: a task, a session, or a person.
CREATE TABLE stored_text_holder (
  text INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (text, holder)
) STRICT, WITHOUT ROWID;

CREATE TABLE text_chunk (
  number INTEGER PRIMARY KEY,
  text INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  -- Its position in bytes.
  begins INTEGER NOT NULL,
  ends INTEGER NOT NULL
) STRICT;
CREATE INDEX text_chunk_of ON text_chunk (text);

-- The words of chunks in all forms (engine/knowledge/search).
CREATE VIRTUAL TABLE chunk_words USING fts5(
  words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

CREATE VIRTUAL TABLE chunk_vocabulary USING fts5vocab(chunk_words, 'row');

-- Bytes that the context tools kept out of a context, without any content. Empty session: none.
CREATE TABLE context_saving (
  session TEXT NOT NULL,
  tool TEXT NOT NULL,
  calls INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (session, tool)
) STRICT, WITHOUT ROWID;
`;
