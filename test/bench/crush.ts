import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { crush } from '../../engine/knowledge/context/crush/index.ts';
import { type CorpusFile, readCorpus } from '../support/gateway/corpus.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const RUNS = 40;
const SIZES_KB = [4, 50, 500, 2000];

/** Returns rtk's filter for an output, by the prefix of its name; `log` is its filter for all others. */
const RTK_FILTERS: readonly [string, string][] = [
  ['cargo-test', 'cargo-test'],
  ['pytest', 'pytest'],
  ['go-test', 'go-test'],
  ['ctest', 'ctest'],
  ['tsc', 'tsc'],
  ['vitest', 'vitest'],
  ['git-status', 'git-status'],
  ['mypy', 'mypy'],
  ['phpunit', 'phpunit'],
];

/** `npm install --prefix <folder> anolisa-tokenless` installs rtk; null without it. */
function findRtk(): ((file: CorpusFile) => string) | null {
  const program = join(process.env.SVC_BENCH_PEERS ?? '', 'node_modules', '.bin', 'rtk');
  if (!existsSync(program)) return null;
  const home = temporaryFolder();
  return ({ name, text }) => {
    const filter = RTK_FILTERS.find(([begin]) => name.startsWith(begin))?.[1] ?? 'log';
    const { stdout } = spawnSync(program, ['pipe', '--filter', filter], {
      input: text,
      env: { HOME: home, PATH: process.env.PATH },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    return stdout;
  };
}

interface Scored {
  saved: number;
  kept: number;
}

const score = ({ text, facts }: CorpusFile, out: string): Scored => ({
  saved: 100 * (1 - Buffer.byteLength(out) / Buffer.byteLength(text)),
  kept: facts.filter((fact) => out.includes(fact)).length,
});

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/**
 * Measures what is saved and kept of each output of the corpus, compared with rtk if it is installed, and the time by
 * size.
 */
export async function crushing(): Promise<Figure[]> {
  const files = [...readCorpus('noise'), ...readCorpus('held-out')];
  const askRtk = findRtk();
  const figures: Figure[] = [];
  const ours: Scored[] = [];
  const theirs: Scored[] = [];
  for (const file of files) {
    const own = score(file, crush(file.text).text);
    const other = askRtk === null ? null : score(file, askRtk(file));
    ours.push(own);
    if (other !== null) theirs.push(other);
    const share = (kept: number): number => (100 * kept) / file.facts.length;
    figures.push(figure(`crush ${file.name}: saved`, own.saved, '%', other?.saved ?? null));
    figures.push(
      figure(
        `crush ${file.name}: facts kept`,
        share(own.kept),
        '%',
        other === null ? null : share(other.kept),
      ),
    );
  }
  const sumKept = (scored: readonly Scored[]): number => scored.reduce((sum, { kept }) => sum + kept, 0);
  const facts = files.reduce((sum, file) => sum + file.facts.length, 0);
  const meanOf = (scored: readonly Scored[]): number | null =>
    scored.length === 0 ? null : mean(scored.map(({ saved }) => saved));
  figures.push(figure('crush: mean saving', meanOf(ours) ?? 0, '%', meanOf(theirs)));
  figures.push(
    figure(
      `crush: facts kept of ${facts}`,
      sumKept(ours),
      'facts',
      theirs.length === 0 ? null : sumKept(theirs),
    ),
  );
  figures.push(...measureSizes(files));
  return figures;
}

/** Measures the time for texts of each size: every kind of output in turn, repeated up to the size. */
function measureSizes(files: readonly CorpusFile[]): Figure[] {
  return SIZES_KB.flatMap((size) => {
    const samples: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const { text } = files[(run * 7) % files.length] as CorpusFile;
      const bytes = size * 1000;
      const filled = text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);
      const from = performance.now();
      crush(filled);
      samples.push(performance.now() - from);
    }
    return [
      figure(`crush of ${size} KB: p50`, median(samples), 'ms'),
      figure(`crush of ${size} KB: p95`, percentile(samples, 0.95), 'ms'),
    ];
  });
}
