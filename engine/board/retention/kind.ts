import type { PacedWriter } from './pace.ts';

/** Removable items, with an estimate of their size in bytes. */
export interface RemovableItem<T> {
  item: T;
  bytes: number;
}

/** One kind of data that retention removes. Dry run and removal use the same `find`. */
export interface RetentionKind<T = unknown> {
  /** Key of `retain` with its maximum age. */
  key: 'events' | 'tasks' | 'logs' | 'refs' | 'discarded';
  /** Its name in a table. */
  label: string;
  /**
   * Finds items that were finished before `cutoff`, Unix ms, part by part. The next part may be requested after the
   * last one was removed, or kept.
   */
  find(cutoff: number): AsyncGenerator<RemovableItem<T>[]>;
  /** Removes the items that are still removable. Returns the removed ones. */
  remove(part: RemovableItem<T>[], cutoff: number, writer: PacedWriter): Promise<RemovableItem<T>[]>;
}

/** Type-checks a kind, whose items are private. */
export const defineRetentionKind = <T>(kind: RetentionKind<T>): RetentionKind =>
  kind as unknown as RetentionKind;
