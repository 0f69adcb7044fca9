import type { PacedWriter } from './pace.ts';

/** What is found to be removed, with an estimate of the bytes that it takes. */
export interface Found<T> {
  item: T;
  bytes: number;
}

/** One kind of thing that retention removes. Dry run and removal ask the same `find`. */
export interface RetentionKind<T = unknown> {
  /** Key of `retain` that says how old it gets. */
  key: 'events' | 'tasks' | 'logs' | 'refs' | 'discarded';
  /** What a table calls it. */
  label: string;
  /**
   * Finds what was over before `cutoff`, Unix ms, part by part. It may be asked for the next part after the last one was
   * removed, or kept.
   */
  find(cutoff: number): AsyncGenerator<Found<T>[]>;
  /** Removes those that are still to be removed. Returns which of them are gone. */
  remove(part: Found<T>[], cutoff: number, writer: PacedWriter): Promise<Found<T>[]>;
}

/** Type-checks a kind, whose items are its own business. */
export const defineRetentionKind = <T>(kind: RetentionKind<T>): RetentionKind =>
  kind as unknown as RetentionKind;
