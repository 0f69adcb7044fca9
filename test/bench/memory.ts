import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/base/clock.ts';
import { createRecall } from '../../engine/knowledge/memory/recall.ts';
import { createMemoryStore } from '../../engine/knowledge/memory/store.ts';
import { createEventLog, openStorage, type Storage } from '../../engine/storage/index.ts';
import { temporaryFolder } from '../support/git.ts';
import { type Figure, figure, percentile } from './figure.ts';

interface LabelledSet {
  memories: { key: string; type: string; title: string; text: string; tags: string }[];
  queries: { query: string; answers: string[] }[];
}

const SETS = ['first', 'second', 'third'] as const;
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

/** Opens a memory with the labelled rows and can put others around them. */
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
    /** Rows of the same words and languages in other sentences: none answers a query, all compete for its words. */
    async surround(from: number, to: number): Promise<void> {
      for (let at = from; at < to; at += 1000)
        await storage.write(() => {
          for (let count = at; count < Math.min(to, at + 1000); count += 1) remember(makeNoise(count));
        });
    },
    /** As `surround`, for more than one would wait for: the rows are written as they are, and read into the index at once. */
    async surroundAtOnce(from: number, to: number): Promise<void> {
      const insert = storage.db.prepare(`INSERT INTO memory
        (id, type, title, title_key, text, tags, digest, actor, seat, via, created_at, changed_at)
        VALUES (@id, @type, @title, @title, @text, @tags, @id, 'ada', 'chair', 'cli', @now, @now)`);
      await storage.write(() => {
        for (let at = from; at < to; at += 1) {
          const { tags, ...noise } = makeNoise(at);
          insert.run({ ...noise, id: `m-noise${at}`, tags: JSON.stringify([tags]), now: systemClock.now() });
        }
        store.rebuildIndex();
      });
    },
    /** Where the first right answer stands (from 1; Infinity for nowhere), and how long each search took, ms. */
    ask({ queries }: LabelledSet): { ranks: number[]; found: number[]; times: number[] } {
      const times: number[] = [];
      const ranks: number[] = [];
      const found: number[] = [];
      for (const { query, answers } of queries) {
        const start = performance.now();
        const rows = recall(query, { limit: LIMIT }).map(({ memory }) => keys.get(memory.id) ?? '');
        times.push(performance.now() - start);
        const at = rows.findIndex((key) => answers.includes(key));
        ranks.push(at < 0 ? Number.POSITIVE_INFINITY : at + 1);
        found.push(answers.filter((key) => rows.includes(key)).length / answers.length);
      }
      return { ranks, found, times };
    },
    close: () => storage.close(),
  };
}

const WORDS =
  `service worker module request session token cache index table query column user order customer price report
login form button page route handler parser lexer buffer stream socket port proxy container image build test suite fixture mock
branch commit merge release version deploy server staging cluster node memory disk file folder path name value number list tree
graph queue job batch timer clock event message topic channel filter rule policy role group account invoice payment refund tax
country language text label title icon color theme layout grid chart export import upload download backup restore migrate schema
lock retry timeout limit quota budget alert metric trace log error warning secret key certificate header cookie body status code
Verbindung Tabelle Rechnung Kunde Bericht Fehler Speicher Prüfung Zeit Größe 数据 服务 接口 缓存 订单 日志 测试 部署 データ 画面 処理 設定 接続 認証`.split(
    /\s+/,
  );
const SYLLABLES = 'ba be di fo gu ka le mi no pu ra se ti vo wu xa ye zo qui stra'.split(' ');
const TYPES = ['fact', 'decision', 'gotcha', 'convention', 'procedure'];

/** Pseudorandom and the same every time. */
function makeNoise(seed: number): { type: string; title: string; text: string; tags: string } {
  let state = (seed + 1) * 2_654_435_761;
  const next = (): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state;
  };
  // A few words are everywhere and most are rare, as in any language.
  const word = (): string => {
    const share = next() / 2 ** 32;
    return share < 0.5
      ? (WORDS[Math.floor(WORDS.length * (2 * share) ** 2)] ?? '')
      : `${WORDS[next() % 60]}${SYLLABLES[next() % SYLLABLES.length]}${SYLLABLES[next() % SYLLABLES.length]}`;
  };
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  const id = `${word()}${seed}`;
  return {
    type: TYPES[next() % TYPES.length] ?? 'fact',
    title: `${words(5)} ${id}`,
    text: `${words(20 + (next() % 30))} src/${word()}/${id}.ts`,
    tags: word(),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** How well and how fast the queries of a set are answered. */
function describeAnswers(
  rig: Awaited<ReturnType<typeof openLabelled>>,
  set: LabelledSet,
  where: string,
): Figure[] {
  const rounds = Array.from({ length: ROUNDS }, () => rig.ask(set));
  const { ranks, found } = rounds[0] ?? { ranks: [], found: [] };
  const times = rounds.flatMap((each) => each.times);
  if (process.env.SVC_BENCH_MISSES !== undefined)
    for (const [index, rank] of ranks.entries())
      if (rank > 1) console.error(`${where}: ${rank} for ${set.queries[index]?.query}`);
  return [
    figure(`memory_recall@8, ${where}`, mean(found), 'share'),
    figure(`memory_mrr, ${where}`, mean(ranks.map((rank) => 1 / rank)), 'share'),
    figure(`memory_recall p50, ${where}`, percentile(times, 0.5), 'ms'),
    figure(`memory_recall p95, ${where}`, percentile(times, 0.95), 'ms'),
  ];
}

/**
 * How well and how fast memories are found: each set alone, and all of them among 10,000 and 100,000 others. The ranking was
 * settled on the first two; the third was made afterwards.
 */
export async function memoryRecall(): Promise<Figure[]> {
  const sets = SETS.map((name) => ({ name, labelled: readLabelled(name) }));
  const figures: Figure[] = [];
  for (const { name, labelled } of sets) {
    const rig = await openLabelled([labelled]);
    figures.push(...describeAnswers(rig, labelled, `${name} set alone`));
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
        figures.push(...describeAnswers(rig, labelled, `${name} set among ${size}`));
    }
  } finally {
    rig.close();
  }
  return figures;
}
