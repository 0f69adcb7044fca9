/** A row's words by field name. */
export type Fields<R> = Readonly<Record<string, (row: R) => string | null>>;

interface Term {
  field: string | null;
  word: string;
  negated: boolean;
}

/** `status:failed agent:claude !word "two words"`: all terms must hold. */
function parseFilter(filter: string): Term[] {
  return [...filter.matchAll(/(!?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))/g)].flatMap(
    ([, bang, field, quoted, bare]) => {
      const word = (quoted ?? bare ?? '').toLowerCase();
      return word === '' ? [] : [{ field: field?.toLowerCase() ?? null, word, negated: bang === '!' }];
    },
  );
}

/**
 * The rows that a filter leaves. A word is looked for in every field; a name that is no field is a part of the word,
 * as in `http://…`. Case does not matter.
 */
export function filterRows<R>(rows: readonly R[], filter: string, fields: Fields<R>): readonly R[] {
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
