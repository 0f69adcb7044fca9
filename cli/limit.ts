import type { Context } from './command.ts';

/** What the engine gives at once. */
const MOST = 100_000;

/** The flag of a list that shows `standard` rows unless it is told otherwise. */
export const limitFlag = (standard: number) =>
  ({ limit: { type: 'number', short: 'n', about: `at most this many (${standard})` } }) as const;

/** Says that a list shows a part. On stderr and also under `--json`: an array has no place for it, and scripts read stdout. */
export function noteCut(
  { stderr }: Pick<Context, 'stderr'>,
  { shown, total, most = MOST }: { shown: number; total: number; most?: number },
): void {
  if (total <= shown) return;
  const next =
    shown >= most ? '' : `; --limit ${Math.min(total, most)} shows ${total > most ? 'more' : 'all'}`;
  stderr.write(`note: ${shown} of ${total} are shown${next}\n`);
}

/** `noteCut` of what `count` counts, which is asked only where the limit was reached. */
export async function noteCutOf(
  context: Context,
  { shown, limit, count }: { shown: number; limit: number; count(): Promise<number> },
): Promise<void> {
  if (shown >= limit) noteCut(context, { shown, total: await count() });
}
