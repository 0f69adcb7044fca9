export const memoryTerms = `
-- Every term of the active memories with the number of rows that hold it, and '' with the number of rows. The engine fills it
-- (engine/knowledge/memory/word-index.ts) and does so anew when it reads texts in another way.
CREATE TABLE memory_terms (
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE,
  rows INTEGER NOT NULL
);
-- For what stands inside of longer words.
CREATE VIRTUAL TABLE memory_term_parts USING fts5(
  term, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
DROP TABLE memory_grams;
DROP TABLE memory_vocabulary;
`;
