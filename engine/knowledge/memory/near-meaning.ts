import type { Db } from '../../storage/index.ts';
import { loadWordVectors } from '../search/index.ts';
import { type NearTerm, TELLING, type WantedTerm } from './recall-terms.ts';

/** The least cosine of words that are near, and the cosine from which their weight grows. */
const LEAST_COSINE = 0.4;
const FROM_COSINE = 0.2;
/** The weight of the same word. */
const SAME = 0.3;
const MOST_NEAR = 24;

/** Creates the search for known terms with a meaning near to that of a word. */
export function createMeaningFinder(db: Db) {
  const termsFrom = db.prepare<unknown[], { id: number; term: string; rows: number }>(
    'SELECT id, term, rows FROM memory_terms WHERE id >= ? ORDER BY id',
  );
  const countsOf = db.prepare<unknown[], { term: string; rows: number }>(
    'SELECT term, rows FROM memory_terms WHERE term IN (SELECT value FROM json_each(?))',
  );
  /** The terms that have a vector, and the last term that was read. */
  let known: { term: string; place: number }[] = [];
  let last = { id: 0, term: '' };

  /** Reads the terms that are new since the last call: they have the largest ids. */
  function readKnown(): void {
    const { find } = loadWordVectors();
    let rows = termsFrom.all(last.id);
    if (last.id > 0 && rows[0]?.term !== last.term) {
      known = [];
      last = { id: 0, term: '' };
      rows = termsFrom.all(0);
    }
    for (const { id, term } of rows) {
      if (id === last.id && term === last.term) continue;
      last = { id, term };
      const place = find(term);
      if (place >= 0) known.push({ term, place });
    }
  }

  function findNear({ word, forms, near, weight }: WantedTerm): NearTerm[] {
    const { find, cosine } = loadWordVectors();
    const place = weight < TELLING ? -1 : find(word);
    if (place < 0) return [];
    const found: NearTerm[] = [];
    for (const each of known) {
      const share = cosine(place, each.place);
      if (share < LEAST_COSINE || forms.includes(each.term) || near.some(({ term }) => term === each.term))
        continue;
      found.push({ term: each.term, weight: SAME * ((share - FROM_COSINE) / (1 - FROM_COSINE)), count: 0 });
    }
    return found.sort((one, other) => other.weight - one.weight).slice(0, MOST_NEAR);
  }

  /** Adds the known terms with a near meaning to those of a question. */
  return (wanted: readonly WantedTerm[]): WantedTerm[] => {
    readKnown();
    const added = wanted.map(findNear);
    const counts = new Map(
      countsOf
        .all(JSON.stringify(added.flat().map(({ term }) => term)))
        .map(({ term, rows }) => [term, rows]),
    );
    return wanted.map((each, at) => ({
      ...each,
      meant: (added[at] ?? [])
        .map((near) => ({ ...near, count: counts.get(near.term) ?? 0 }))
        .filter(({ count }) => count > 0),
    }));
  };
}
