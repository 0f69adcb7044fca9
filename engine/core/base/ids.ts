import { SvcError } from './errors.ts';
import { type Sentence, sentence } from './sentence.ts';

/** Identifiers short enough to type, counted per workspace and never reused: `t-42`, `d-17`, `s-88`, `w-3`. */
export type IdKind = 't' | 'd' | 's' | 'w';

export const NOUNS = { t: 'task', d: 'decision', s: 'session', w: 'worker' } as const satisfies Record<
  IdKind,
  string
>;

export const formatId = (kind: IdKind, number: number): string => `${kind}-${number}`;

export const formatIdOrNull = (kind: IdKind, number: number | null): string | null =>
  number === null ? null : formatId(kind, number);

/** The command that lists the existing ones. */
const LISTED_BY: Readonly<Record<IdKind, Sentence>> = {
  t: sentence`{task.list}`,
  d: sentence`{decision.list}`,
  s: sentence`{session.list all=true}`,
  w: sentence`{task.show}`,
};

function parseNumberOf(kind: IdKind, text: string): number | null {
  const match = /^(?:([a-z])-)?([1-9]\d{0,14})$/.exec(text);
  return match && (match[1] === undefined || match[1] === kind) ? Number(match[2]) : null;
}

/** Parses the number of an identifier; `t-42` and plain `42` are both accepted. Throws `not_found` for anything else. */
export function parseId(kind: IdKind, text: string): number {
  const number = parseNumberOf(kind, text);
  if (number !== null) return number;
  throw new SvcError('not_found', `no ${NOUNS[kind]} ${JSON.stringify(text)}`, {
    hint: `a ${NOUNS[kind]} id looks like ${kind}-42`,
  });
}

/** Returns the worker session of an id; null for the sessions of Chairs and plain ones, which have names. */
export const asWorkerSession = (sessionId: string | null): string | null =>
  sessionId !== null && /^s-[1-9]\d{0,14}$/.test(sessionId) ? sessionId : null;

/** Formats identifiers as the JSON array of numbers that SQL reads with `json_each`; invalid ones are dropped. */
export const formatIdArray = (kind: IdKind, texts: readonly string[]): string =>
  JSON.stringify(texts.map((text) => parseNumberOf(kind, text)).filter((number) => number !== null));

/**
 * Finds the only row for `prefix`: an exact match, the only one whose number starts with it, or the one of a task.
 * Throws `not_found`, `conflict`.
 */
export function findByPrefix<R>(
  kind: IdKind,
  prefix: string,
  find: {
    exact(number: number): R | undefined;
    like(pattern: string): R[];
    /** Finds the row that stands for a task; without it the id of a task finds nothing. */
    ofTask?(number: number): R;
  },
): R {
  if (find.ofTask !== undefined && prefix.startsWith('t-')) return find.ofTask(parseId('t', prefix));
  const number = parseId(kind, prefix);
  const exact = find.exact(number);
  if (exact !== undefined) return exact;
  const [first, second] = find.like(`${number}%`);
  const noun = NOUNS[kind];
  if (first === undefined) {
    throw new SvcError('not_found', `no ${noun} ${formatId(kind, number)}`, {
      hint: sentence`${LISTED_BY[kind]} lists them`,
    });
  }
  if (second !== undefined) {
    throw new SvcError('conflict', `several ${noun}s start with ${prefix}`, {
      hint: 'give more characters of the id',
    });
  }
  return first;
}
