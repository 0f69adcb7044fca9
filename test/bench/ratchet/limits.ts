import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BenchMarks } from '../bars.ts';
import { type CountedWork, WORK_KINDS } from './operation.ts';

/** The figures of an operation: its processor time as a ratio, and its work; only what was measured. */
export type GuardedFigures = Partial<CountedWork> & { time?: number };

/** All of guard.json: the recorded figures, with their machine and commit. */
export interface GuardRecord extends Pick<BenchMarks, 'machine' | 'commit'> {
  operations: Record<string, GuardedFigures>;
}

/** Compiled files are in dist/, the record with the source. */
const FILE = fileURLToPath(new URL('../../../../test/bench/guard.json', import.meta.url));

export const readRecord = (): GuardRecord => JSON.parse(readFileSync(FILE, 'utf8')) as GuardRecord;

export function writeRecord(record: GuardRecord): void {
  writeFileSync(FILE, `${JSON.stringify(record, null, 2)}\n`);
}

export const FIGURE_KINDS = ['time', ...WORK_KINDS] as const;
export type FigureKind = (typeof FIGURE_KINDS)[number];

/** A part of a call less than this is work of something else. */
const HALF = 0.5;

/**
 * Reports whether a figure has reached its limit, which is twice the recorded value. A count of zero stays zero, and a
 * second fork, file or statement where one was recorded is too much.
 */
export const isOverLimit = (kind: FigureKind, now: number, recorded: number): boolean =>
  kind === 'time' ? now > 2 * recorded : now >= 2 * recorded && now - recorded >= HALF;

/** Reports whether a figure is so much better that its old limit would hide a loss. */
export const isUnderHalf = (kind: FigureKind, now: number, recorded: number): boolean =>
  now * 2 < recorded && (kind === 'time' || recorded - now >= HALF);

/** Returns the kinds of figures for which `test` holds; a kind without a record or a figure is left out. */
export const selectKinds = (
  now: GuardedFigures,
  recorded: GuardedFigures,
  test: typeof isOverLimit,
): FigureKind[] =>
  FIGURE_KINDS.filter((kind) => {
    const [ours, theirs] = [now[kind], recorded[kind]];
    return ours !== undefined && theirs !== undefined && test(kind, ours, theirs);
  });
