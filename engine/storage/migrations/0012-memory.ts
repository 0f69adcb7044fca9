export const memory = `
-- What agents and people have learnt. A row's text never changes: another wording is a row that supersedes it.
CREATE TABLE memory (
  number INTEGER PRIMARY KEY,
  -- m- and a random body, since memories travel between workspaces.
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  -- The title as titles are compared.
  title_key TEXT NOT NULL,
  text TEXT NOT NULL,
  tags TEXT NOT NULL,
  source TEXT,
  -- Of type, title and text: an exact repeat is the same row.
  digest TEXT NOT NULL,
  -- active, forgotten, expired, superseded
  state TEXT NOT NULL DEFAULT 'active',
  superseded_by TEXT,
  -- Why a person has to look at it first, a clause; null for what may enter a brief.
  unreviewed TEXT,
  actor TEXT NOT NULL,
  seat TEXT NOT NULL,
  via TEXT NOT NULL,
  session_id TEXT,
  task_id TEXT,
  agent TEXT,
  created_at INTEGER NOT NULL,
  -- When type, title or text were last another.
  changed_at INTEGER NOT NULL,
  ended_at INTEGER,
  kept_by TEXT,
  kept_at INTEGER
);
CREATE INDEX memory_active ON memory (type, changed_at) WHERE state = 'active';
CREATE INDEX memory_newest ON memory (changed_at) WHERE state = 'active';
CREATE INDEX memory_titles ON memory (type, title_key) WHERE state = 'active';
CREATE INDEX memory_digest ON memory (digest) WHERE state = 'active';
CREATE INDEX memory_unreviewed ON memory (number) WHERE state = 'active' AND unreviewed IS NOT NULL;
-- Active rows only, their words in all forms (engine/knowledge/search).
CREATE VIRTUAL TABLE memory_words USING fts5(
  title, tags, text, tokenize = 'unicode61 remove_diacritics 0'
);
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab(memory_words, 'row');
-- The same folded, for what stands inside of longer words.
CREATE VIRTUAL TABLE memory_grams USING fts5(
  text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
`;
