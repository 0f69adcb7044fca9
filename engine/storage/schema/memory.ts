/** Memories and their search index. */
export const memorySchema = `
-- Facts that agents and people have learned. The text of a row never changes: a new wording is a row that supersedes it.
-- okf_path and okf_frontmatter: the place of an imported file in its folder, and its frontmatter (YAML) if an export would
-- write another.
CREATE TABLE memory (
  number INTEGER PRIMARY KEY,
  -- m- and a random part, because memories move between workspaces.
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  -- The form in which titles are compared.
  title_key TEXT NOT NULL,
  text TEXT NOT NULL,
  tags TEXT NOT NULL,
  source TEXT,
  -- Hash of type, title and text: an exact repeat is the same row.
  digest TEXT NOT NULL,
  -- active, forgotten, expired, superseded
  state TEXT NOT NULL DEFAULT 'active',
  superseded_by TEXT,
  -- Why a person must check it first, a clause; NULL if it may enter a brief.
  unreviewed TEXT,
  actor TEXT NOT NULL,
  seat TEXT NOT NULL,
  via TEXT NOT NULL,
  session_id TEXT,
  task_id TEXT,
  agent TEXT,
  created_at INTEGER NOT NULL,
  -- When type, title or text last changed.
  changed_at INTEGER NOT NULL,
  ended_at INTEGER,
  kept_by TEXT,
  kept_at INTEGER,
  okf_path TEXT, okf_frontmatter TEXT
);
CREATE INDEX memory_active ON memory (type, changed_at) WHERE state = 'active';
CREATE INDEX memory_newest ON memory (changed_at) WHERE state = 'active';
CREATE INDEX memory_titles ON memory (type, title_key) WHERE state = 'active';
CREATE INDEX memory_unreviewed ON memory (number) WHERE state = 'active' AND unreviewed IS NOT NULL;
-- An import looks up every file, including memories that have ended.
CREATE INDEX memory_content ON memory (digest);

-- The words of active memories in all forms (engine/knowledge/search).
CREATE VIRTUAL TABLE memory_words USING fts5(
  title, tags, text, tokenize = 'unicode61 remove_diacritics 0'
);

-- Every term of the active memories with the number of rows that contain it, and '' with the number of rows. Rebuilt when
-- texts are read in another way (engine/knowledge/memory/word-index.ts).
CREATE TABLE memory_terms (
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE,
  rows INTEGER NOT NULL
);

-- For words inside longer words.
CREATE VIRTUAL TABLE memory_term_parts USING fts5(
  term, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);

-- The memories that a session's worker received when it last started.
CREATE TABLE memory_briefs (
  session_id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- Ids of memories, JSON, in the order of the file.
  ids TEXT NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE INDEX memory_briefs_newest ON memory_briefs (at);
`;
