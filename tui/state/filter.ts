/** Reads the text of each filterable field of a row. */
export type FilterFields<R> = Readonly<Record<string, (row: R) => string | null>>;

interface Term {
  field: string | null;
  word: string;
  negated: boolean;
}

/** Parses a filter such as `status:failed agent:claude !word "two words"`. All terms must match. */
function parseFilter(filter: string): Term[] {
  return [...filter.matchAll(/(!?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))/g)].flatMap(
    ([, bang, field, quoted, bare]) => {
      const word = (quoted ?? bare ?? '').toLowerCase();
      return word === '' ? [] : [{ field: field?.toLowerCase() ?? null, word, negated: bang === '!' }];
    },
  );
}

/** Parses a filter for a search by the engine: its words, and the type that `type:word` names. */
export function splitSearch(filter: string): { query: string; type: string | null } {
  const terms = parseFilter(filter);
  const type = terms.find(({ field, negated }) => field === 'type' && !negated)?.word ?? null;
  const words = terms.filter(({ field }) => field !== 'type');
  return {
    query: words.map(({ field, word }) => (field === null ? word : `${field}:${word}`)).join(' '),
    type,
  };
}

/**
 * Returns the rows that match a filter, ignoring case. A word without a field is searched in every field. An unknown
 * field name is part of the word, as in `http://…`.
 */
export function filterRows<R>(rows: readonly R[], filter: string, fields: FilterFields<R>): readonly R[] {
  const terms = parseFilter(filter);
  if (terms.length === 0) return rows;
  const matchesTerm = (row: R, { field, word, negated }: Term): boolean => {
    const read = field === null ? undefined : fields[field];
    const wanted = read === undefined && field !== null ? `${field}:${word}` : word;
    const texts = read === undefined ? Object.values(fields) : [read];
    return texts.some((text) => text(row)?.toLowerCase().includes(wanted)) !== negated;
  };
  return rows.filter((row) => terms.every((term) => matchesTerm(row, term)));
}
