import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/core/base/clock.ts';
import { createRecall } from '../../engine/knowledge/memory/recall.ts';
import { createMemoryStore } from '../../engine/knowledge/memory/store.ts';
import { createEventLog, openStorage, type Storage } from '../../engine/storage/index.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { makeUnrelated } from './unrelated-memories.ts';

interface LabelledSet {
  memories: { key: string; type: string; title: string; text: string; tags: string }[];
  /** True for questions that paraphrase the memory. */
  queries: { query: string; answers: string[]; hasOtherWords?: true }[];
}

const SETS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
] as const;
const LIMIT = 8;
const ROUNDS = 3;
const PERSON = {
  actor: 'ada',
  seat: 'chair',
  via: 'cli',
  sessionId: null,
  taskId: null,
  agent: null,
  unreviewed: null,
};
const SOME = 10_000;
const MANY = 100_000;

export const readLabelled = (name: (typeof SETS)[number]): LabelledSet =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `../../../fixtures/memory/${name}.json`), 'utf8'),
  ) as LabelledSet;

/** Opens a memory with the labelled rows; can add others. */
export async function openLabelled(sets: readonly LabelledSet[]) {
  const storage: Storage = openStorage({ path: join(temporaryFolder('svc-recall-'), 'svc.db') });
  const events = createEventLog({ storage, clock: systemClock });
  const store = createMemoryStore({
    storage,
    events,
    clock: systemClock,
    retentionDays: () => ({}),
    modelOf: () => null,
  });
  const { recall } = createRecall({ storage, clock: systemClock });
  const keys = new Map<string, string>();
  const remember = ({ tags, ...each }: { type: string; title: string; text: string; tags: string }) =>
    store.remember({ ...each, tags: tags.split(',') }, PERSON, PERSON).memory.id;
  await storage.write(() => {
    for (const { memories } of sets) for (const each of memories) keys.set(remember(each), each.key);
  });
  return {
    /**
     * Adds rows in the same field and languages about other subjects: none answers a query, all compete for its
     * words.
     */
    async surround(from: number, to: number): Promise<void> {
      for (let at = from; at < to; at += 1000)
        await storage.write(() => {
          for (let count = at; count < Math.min(to, at + 1000); count += 1) remember(makeUnrelated(count));
        });
    },
    /** Does the same as `surround` for very many rows: writes them directly and indexes them in one pass. */
    async surroundAtOnce(from: number, to: number): Promise<void> {
      const insert = storage.db.prepare(`INSERT INTO memory
        (id, type, title, title_key, text, tags, digest, actor, seat, via, created_at, changed_at)
        VALUES (@id, @type, @title, @title, @text, @tags, @id, 'ada', 'chair', 'cli', @now, @now)`);
      await storage.write(() => {
        for (let at = from; at < to; at += 1) {
          const { tags, ...unrelated } = makeUnrelated(at);
          insert.run({
            ...unrelated,
            id: `m-unrelated${at}`,
            tags: JSON.stringify([tags]),
            now: systemClock.now(),
          });
        }
        store.rebuildIndex();
      });
    },
    /** Rank of the first right answer (from 1; Infinity if there is none), and the time of each search in ms. */
    ask({ queries }: LabelledSet): { ranks: number[]; found: number[]; times: number[]; firsts: string[] } {
      const times: number[] = [];
      const ranks: number[] = [];
      const found: number[] = [];
      const firsts: string[] = [];
      for (const { query, answers } of queries) {
        const start = performance.now();
        const memories = recall(query, { limit: LIMIT }).map(({ memory }) => memory);
        times.push(performance.now() - start);
        const rows = memories.map(({ id }) => keys.get(id) ?? '');
        firsts.push(memories[0]?.title ?? 'nothing');
        const at = rows.findIndex((key) => answers.includes(key));
        ranks.push(at < 0 ? Number.POSITIVE_INFINITY : at + 1);
        found.push(answers.filter((key) => rows.includes(key)).length / answers.length);
      }
      return { ranks, found, times, firsts };
    },
    close: () => storage.close(),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** Measures quality and speed for the queries of a set. */
function describeAnswers(
  rig: Awaited<ReturnType<typeof openLabelled>>,
  set: LabelledSet,
  where: string,
): Figure[] {
  const rounds = Array.from({ length: ROUNDS }, () => rig.ask(set));
  const { ranks, found, firsts } = rounds[0] ?? { ranks: [], found: [], firsts: [] };
  const sharing = found.filter((_, at) => set.queries[at]?.hasOtherWords !== true);
  const times = rounds.flatMap((each) => each.times);
  if (process.env.SVC_BENCH_MISSES !== undefined)
    for (const [index, rank] of ranks.entries())
      if (rank > 1)
        console.error(`${where}: ${rank} for ${set.queries[index]?.query}; first ${firsts[index]}`);
  return [
    figure(`memory_recall@8, ${where}`, mean(found), 'share'),
    ...(sharing.length < found.length
      ? [figure(`memory_recall@8, ${where}, of questions with a word of the memory`, mean(sharing), 'share')]
      : []),
    figure(`memory_mrr, ${where}`, mean(ranks.map((rank) => 1 / rank)), 'share'),
    figure(`memory_recall p50, ${where}`, percentile(times, 0.5), 'ms'),
    figure(`memory_recall p95, ${where}`, percentile(times, 0.95), 'ms'),
  ];
}

/**
 * Measures quality and speed of search: each set alone and among 10,000 other memories, and all sets among 10,000 and
 * 100,000. The ranking was tuned on the first three; each set's `about` states its result when it was new, before any
 * tuning on it.
 */
export async function memoryRecall(): Promise<Figure[]> {
  const sets = SETS.map((name) => ({ name, labelled: readLabelled(name) }));
  const figures: Figure[] = [];
  for (const { name, labelled } of sets) {
    const rig = await openLabelled([labelled]);
    figures.push(...describeAnswers(rig, labelled, `${name} set alone`));
    await rig.surroundAtOnce(0, SOME);
    figures.push(...describeAnswers(rig, labelled, `${name} set among ${SOME}`));
    rig.close();
  }
  const rig = await openLabelled(sets.map(({ labelled }) => labelled));
  try {
    for (const size of [SOME, MANY]) {
      const start = performance.now();
      if (size === SOME) await rig.surround(0, SOME);
      else await rig.surroundAtOnce(SOME, MANY);
      const eachMs = (performance.now() - start) / (size === SOME ? SOME : MANY - SOME);
      figures.push(
        figure(
          size === SOME ? `memory_remember, up to ${size}` : `rebuilt index of ${size}, a row`,
          eachMs,
          'ms',
        ),
      );
      for (const { name, labelled } of sets)
        figures.push(...describeAnswers(rig, labelled, `${name} set with the others among ${size}`));
    }
  } finally {
    rig.close();
  }
  return figures;
}
