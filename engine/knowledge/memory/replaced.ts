import type { Db } from '../../storage/index.ts';
import { readQuery } from '../search/index.ts';
import { createCandidateFinder, rarityOf } from './recall-candidates.ts';
import { createTermReader, type WantedTerm } from './recall-terms.ts';
import type { MemoryRow } from './rows.ts';

/** The words that say that something took the place of another thing, in the languages of the stop words. */
const SAYS_CHANGE = new RegExp(
  [
    String.raw`\b(?:moved|migrated|switched|changed|replac(?:ed|es|ing)|supersedes?|retired|dropped|abandoned|renamed|corrected|correction|outdated|obsolete)\b`,
    String.raw`\b(?:instead|no longer|not any ?more|now|formerly|previously|used to)\b`,
    String.raw`\b(?:statt|anstelle|ersetzt|abgelöst|abgeschafft|umgestellt|umgezogen|gewechselt|migriert|nicht mehr|jetzt)\b`,
    String.raw`\b(?:remplac|reemplaz|au lieu de|en lugar de|en vez de|ya no)`,
    '改为|改成|改用|换成|换为|替换|取代|代替|迁移|不再|弃用',
    'に変更|へ変更|に変え|移行|置き換え|代わり|廃止|切り替え|乗り換え',
    '대신|변경|교체|바꿨|옮겼|이전했|더 이상',
  ].join('|'),
  'iu',
);

const MOST_COMPARED = 12;
const MOST_ASKED = 3;
/** The least share of an older title, by rarity, that a newer text must repeat. */
const LEAST_SHARE = 0.45;
/** A term in more rows than this share says nothing about the subject. */
const COMMON_SHARE = 0.05;
const FEW_ROWS = 3;
/** The least weight of a whole word with a specific meaning. */
const SPECIFIC = 0.9;

const ANY = { type: null, onlyReviewed: 0, since: null, until: null } as const;

/** Creates the search for older memories that a new one may replace. */
export function createReplacedFinder(db: Db) {
  const readWanted = createTermReader(db);
  const findCandidates = createCandidateFinder(db);
  const load = db.prepare<unknown[], MemoryRow>(
    `SELECT memory.* FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
     WHERE memory.state = 'active' AND memory.id <> ?`,
  );

  const readSpecific = (text: string): { terms: WantedTerm[]; rows: number } => {
    const { wanted, rows } = readWanted(text);
    const terms = wanted.filter(({ weight }) => weight >= SPECIFIC).map((each) => ({ ...each, near: [] }));
    return { terms, rows };
  };

  /** Returns the share of a title that a text with these forms repeats; 0 if only common words are shared. */
  function shareOf(title: string, forms: ReadonlySet<string>): number {
    const { terms, rows } = readSpecific(title);
    const shared = terms.filter((each) => each.forms.some((form) => forms.has(form)));
    const isRare = ({ count }: WantedTerm): boolean => count <= Math.max(FEW_ROWS, rows * COMMON_SHARE);
    if (shared.length < Math.min(2, terms.length) || !shared.some(isRare)) return 0;
    // The text itself is a row with the shared words.
    const weigh = (each: WantedTerm): number =>
      each.weight * rarityOf(shared.includes(each) ? each.count - 1 : each.count, rows);
    const sum = (all: readonly WantedTerm[]): number => all.reduce((total, each) => total + weigh(each), 0);
    return sum(shared) / sum(terms);
  }

  /** Returns the active memories that this indexed one may replace, likeliest first: none unless it speaks of a change. */
  return ({ id, title, text }: Pick<MemoryRow, 'id' | 'title' | 'text'>): MemoryRow[] => {
    const said = `${title}\n${text}`;
    if (!SAYS_CHANGE.test(said)) return [];
    const { terms, rows } = readSpecific(said);
    const forms = new Set(readQuery(said, Number.POSITIVE_INFINITY).flatMap((each) => each.forms));
    return load
      .all(JSON.stringify(findCandidates(terms, rows, ANY).slice(0, MOST_COMPARED)), id)
      .map((row) => ({ row, share: shareOf(row.title, forms) }))
      .filter(({ share }) => share >= LEAST_SHARE)
      .sort((one, other) => other.share - one.share)
      .slice(0, MOST_ASKED)
      .map(({ row }) => row);
  };
}
