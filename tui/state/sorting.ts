import type { ListSort } from './model.ts';

type Value = number | string | null;

/** Compares numbers by size, texts as a person does (`t-9` before `t-10`). */
const compareValues = (one: Value, other: Value): number =>
  typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other), 'en', { numeric: true });

/** Sorts ids by their values. Ids without a value come last in both directions; equal ones keep their order. */
export function sortByValue(
  rows: readonly { id: string; value: Value }[],
  { descending }: { descending: boolean },
): string[] {
  const sign = descending ? -1 : 1;
  return rows
    .toSorted((one, other) =>
      one.value === null || other.value === null
        ? Number(one.value === null) - Number(other.value === null)
        : sign * compareValues(one.value, other.value),
    )
    .map(({ id }) => id);
}

// An order stays the same through many changes of the data.
const rankCache = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

/** Sorts ids by an earlier order. Later ones follow at the end, as their pane lists them. */
export function applyOrder(ids: readonly string[], order: readonly string[]): readonly string[] {
  const ranks = rankCache.get(order) ?? new Map(order.map((id, index) => [id, index]));
  rankCache.set(order, ranks);
  const getRank = (id: string): number => ranks.get(id) ?? order.length;
  return ids.toSorted((one, other) => getRank(one) - getRank(other));
}

/** Parses a sort order from ui.yaml: `tokens`, or `-tokens` with the largest first. */
export const parseSort = (text: string | undefined): ListSort | null =>
  text === undefined ? null : { column: text.replace(/^-/, ''), descending: text.startsWith('-') };

export const formatSort = ({ column, descending }: ListSort): string => `${descending ? '-' : ''}${column}`;
