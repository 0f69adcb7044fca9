import type { Storage } from '../../storage/index.ts';

/** A model of embeddings that a person has chosen. */
export interface EmbeddingModel {
  model: string;
  embed(texts: readonly string[]): Promise<number[][]>;
}

/** How near memories are to a question, by their numbers. */
export type Nearness = ReadonlyMap<number, number>;

/** Memories in one call, and characters of each. */
const BATCH = 64;
const LONGEST = 4000;
const MOST_NEAREST = 50;
const NOTHING: Nearness = new Map();

/** Compares questions with memories by the vectors of a model, if a person has one. */
export function createModelVectors({
  storage,
  embeddings,
  log,
}: {
  storage: Storage;
  embeddings(): EmbeddingModel | null;
  log: { warn(facts: object, text: string): void };
}) {
  const { db } = storage;
  const missing = db.prepare<unknown[], { number: number; title: string; text: string }>(
    `SELECT number, title, text FROM memory WHERE state = 'active'
     AND NOT EXISTS (SELECT 1 FROM memory_vector AS known WHERE known.number = memory.number AND known.model = ?)
     LIMIT +?`,
  );
  const put = db.prepare(
    `INSERT INTO memory_vector (number, model, vector) VALUES (?, ?, ?)
     ON CONFLICT (number) DO UPDATE SET model = excluded.model, vector = excluded.vector`,
  );
  const dropEnded = db.prepare(
    "DELETE FROM memory_vector WHERE number IN (SELECT number FROM memory WHERE state <> 'active')",
  );
  const all = db.prepare<unknown[], { number: number; vector: Buffer }>(
    'SELECT number, vector FROM memory_vector WHERE model = ?',
  );
  let isFilling = false;

  /** Embeds texts together with memories that have no vector yet. */
  async function embedMissing(texts: readonly string[]): Promise<{ vectors: number[][]; left: boolean }> {
    const { model, embed } = embeddings() ?? {};
    if (model === undefined || embed === undefined) return { vectors: [], left: false };
    const rows = missing.all(model, BATCH);
    const said = rows.map(({ title, text }) => `${title}\n${text}`);
    const vectors = await embed([...texts, ...said].map((each) => each.slice(0, LONGEST).toWellFormed()));
    if (rows.length === 0) return { vectors, left: false };
    await storage.write(() => {
      dropEnded.run();
      for (const [at, { number }] of rows.entries())
        put.run(number, model, quantize(vectors[texts.length + at] ?? []));
    });
    return { vectors: vectors.slice(0, texts.length), left: rows.length === BATCH };
  }

  /** Gives vectors to the rest, which later questions are compared with. */
  async function fillRest(): Promise<void> {
    if (isFilling) return;
    isFilling = true;
    try {
      while ((await embedMissing([])).left);
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'memories got no embeddings');
    }
    isFilling = false;
  }

  /** Returns the nearest memories; none without a model, or if it does not answer. */
  return async (question: string): Promise<Nearness> => {
    const wanted = embeddings();
    if (wanted === null || question.trim() === '') return NOTHING;
    try {
      const { vectors, left } = await embedMissing([question]);
      if (left) void fillRest();
      const asked = new Int8Array(quantize(vectors[0] ?? []));
      return new Map(
        all
          .all(wanted.model)
          .map(({ number, vector }): [number, number] => [number, cosine(asked, new Int8Array(vector))])
          .sort(([, one], [, other]) => other - one)
          .slice(0, MOST_NEAREST),
      );
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'a question was not compared by embeddings');
      return NOTHING;
    }
  };
}

function quantize(vector: readonly number[]): Buffer {
  const most = vector.reduce((found, each) => Math.max(found, Math.abs(each)), 0) || 1;
  return Buffer.from(Int8Array.from(vector, (each) => Math.round((127 * each) / most)).buffer);
}

function cosine(one: Int8Array, other: Int8Array): number {
  if (one.length !== other.length) return 0;
  let [product, first, second] = [0, 0, 0];
  for (let at = 0; at < one.length; at += 1) {
    const [a, b] = [one[at] as number, other[at] as number];
    product += a * b;
    first += a * a;
    second += b * b;
  }
  return product === 0 ? 0 : product / Math.sqrt(first * second);
}
