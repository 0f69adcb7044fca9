import { fileURLToPath } from 'node:url';
import { readCode } from '../../engine/knowledge/guard/code/read-code.ts';
import { findSyntax } from '../../engine/knowledge/guard/code/syntaxes.ts';
import { type CopyIndex, findCopies } from '../../engine/knowledge/guard/copies/find-copies.ts';
import { takeFingerprints } from '../../engine/knowledge/guard/copies/fingerprints.ts';
import { createHashIndex } from '../../engine/knowledge/guard/copies/hash-index.ts';
import { chooseSamplings, fillCopySettings } from '../../engine/knowledge/guard/copies/settings.ts';
import type { SourceLanguage } from '../../engine/knowledge/sources/index.ts';
import {
  createDice,
  mutateLayout,
  mutateLines,
  mutateNames,
  takeFunction,
} from '../support/gateway/mutants.ts';
import { type Figure, figure, median, percentile } from './figure.ts';
import { type Corpus, type CorpusCode, readCorpora } from './guard-corpus.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const SETTINGS = fillCopySettings({ window: 0, min_tokens: 0, max_files: 0 });
/** Functions to copy, per language, and unrelated functions to write. */
const MOST_FUNCTIONS = 400;

/** A function that is large enough to copy and does not contain another one. */
function listFunctions(files: readonly CorpusCode[], seed: number) {
  const dice = createDice(seed);
  const all = files.flatMap((file) =>
    file.code.functions
      .filter(({ name, from, to }) => name !== '' && to - from >= 80 && to - from <= 600)
      .map((span) => ({ file, span })),
  );
  return all
    .map((each) => ({ each, at: dice(1 << 30) }))
    .sort((one, other) => one.at - other.at)
    .slice(0, MOST_FUNCTIONS)
    .map(({ each }) => each);
}

function indexOf(files: readonly CorpusCode[]): CopyIndex {
  const index = { whole: createHashIndex(), edited: createHashIndex() };
  const samplings = chooseSamplings(SETTINGS);
  files.forEach(({ code }, at) => {
    index.whole.add(at, takeFingerprints(code.tokens.shapes, samplings.whole));
    index.edited.add(at, takeFingerprints(code.tokens.shapes, samplings.edited));
  });
  return index;
}

interface Tally {
  asked: number;
  found: number;
  denied: number;
}

function measureCorpus(corpus: Corpus, times: number[]): Record<string, Tally> {
  const index = indexOf(corpus.files);
  const dice = createDice(7);
  const tallies: Record<string, Tally> = {};
  const ask = (language: SourceLanguage, text: string) => {
    const begin = performance.now();
    const mine = readCode(text, findSyntax(language));
    const { copies } = findCopies(mine, new Uint8Array(mine.tokens.count).fill(1), {
      index,
      settings: SETTINGS,
      open: (at) => corpus.files[at]?.code ?? null,
      isLate: () => false,
    });
    times.push(performance.now() - begin);
    return copies;
  };
  const count = (kind: string, isFound: boolean, isDenied: boolean): void => {
    tallies[kind] ??= { asked: 0, found: 0, denied: 0 };
    tallies[kind].asked += 1;
    if (isFound) tallies[kind].found += 1;
    if (isDenied) tallies[kind].denied += 1;
  };
  for (const { file, span } of listFunctions(corpus.files, 1)) {
    const text = takeFunction(file.code, span);
    const mutants = {
      'type 1': mutateLayout(text, dice, corpus.comment),
      'type 2': mutateNames(file.code, span, dice),
      'type 3': mutateLines(text, dice, corpus.statement),
      'type 3, renamed as well': mutateLines(mutateNames(file.code, span, dice), dice, corpus.statement),
    };
    for (const [kind, mutant] of Object.entries(mutants)) {
      const found = ask(file.language, mutant).filter(
        (copy) => corpus.files[copy.text] === file && copy.theirName === span.name,
      );
      if (process.env.SVC_BENCH_SHOW === 'missed' && found.length === 0)
        console.error(`--- ${kind} of ${file.path} ${span.name}\n${mutant}`);
      count(
        kind,
        found.length > 0,
        found.some(({ type }) => type < 3),
      );
    }
  }
  for (const { file, span } of listFunctions(corpus.files, 3)) {
    const copies = ask(file.language, takeFunction(file.code, span)).filter(
      ({ text }) => corpus.files[text] !== file,
    );
    if (process.env.SVC_BENCH_SHOW === 'own' && copies.length > 0) {
      const [copy] = copies;
      console.error(
        `--- type ${copy!.type} ${copy!.coverage}`,
        file.path,
        span.name,
        corpus.files[copy!.text]?.path,
        copy!.theirFrom,
      );
      console.error(takeFunction(file.code, span));
      console.error(
        '===\n',
        corpus.files[copy!.text]!.code.text.split('\n')
          .slice(copy!.theirFrom - 1, copy!.theirTo)
          .join('\n'),
      );
    }
    count(
      'own',
      copies.length > 0,
      copies.some(({ type }) => type < 3),
    );
  }
  for (const { file, span } of listFunctions(corpus.foreign, 2)) {
    const copies = ask(file.language, takeFunction(file.code, span));
    if (process.env.SVC_BENCH_SHOW === 'false' && copies.length > 0) {
      const [copy] = copies;
      console.error(JSON.stringify(copy), file.path, span.name, corpus.files[copy!.text]?.path);
      console.error(takeFunction(file.code, span));
      console.error(
        '===',
        corpus.files[copy!.text]!.code.text.split('\n')
          .slice(copy!.theirFrom - 1, copy!.theirTo)
          .join('\n'),
      );
    }
    count(
      'foreign',
      copies.length > 0,
      copies.some(({ type }) => type < 3),
    );
  }
  return tallies;
}

/** Measures how many changed copies are found, and how many functions of other projects are mistaken for copies. */
export async function guardBench(): Promise<Figure[]> {
  const times: number[] = [];
  const figures: Figure[] = [];
  const share = (part: number, whole: number): number => (100 * part) / Math.max(1, whole);
  for (const corpus of readCorpora(PROJECT)) {
    for (const [kind, { asked, found, denied }] of Object.entries(measureCorpus(corpus, times))) {
      const what = kind === 'foreign' ? 'false alarms' : `${kind} found`;
      figures.push(figure(`guard, ${corpus.name}: ${what} of ${asked}`, share(found, asked), '%'));
      if (kind !== 'type 3')
        figures.push(figure(`guard, ${corpus.name}: ${kind} as type 1 or 2`, share(denied, asked), '%'));
    }
  }
  figures.push(figure('guard: comparison, p50', median(times), 'ms'));
  figures.push(figure('guard: comparison, p95', percentile(times, 0.95), 'ms'));
  return figures;
}
