/** Vectors of memories by a model of embeddings. */
export const memoryVectorsSchema = `
-- number: of the memory. vector: a byte per dimension.
CREATE TABLE memory_vector (
  number INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;
`;
