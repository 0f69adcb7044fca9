import { formatCount } from '../../core/base/text.ts';
import type { AskOptions, Graph, GraphPlace } from './index.ts';
import type { IndexProgress } from './index-files/indexer.ts';
import type { TouchedLines } from './query/impact.ts';
import {
  describeGraphState,
  describeUnsure,
  pickAnswer,
  toWireImpact,
  type WireImpact,
  type WireState,
} from './wire.ts';

/** The changes of a session since its start. */
export interface ChangedCode {
  /** Relative to its folder; null lines if all of a file counts. */
  files: readonly { path: string; lines: NonNullable<TouchedLines[string]> | null }[];
  /** Removed files. */
  removed: readonly string[];
  /** Why lines are missing, as a clause; null if they are not. */
  doubt: string | null;
}

export interface ImpactQuestion {
  paths: readonly string[] | null;
  range: string | null;
  limit?: number | undefined;
}

/** The impact of a change, with its gaps. */
export type ImpactAnswer = WireState &
  WireImpact & {
    removed: string[];
    /** True if it is outdated. */
    is_stale: boolean;
    /** Why edges of the project's compiler are missing or incomplete; null if they are complete or not needed. */
    exact: string | null;
  };

/** Determines the impact of a change: of paths, of a range of commits, of a session, or of uncommitted changes. */
export type ReadImpact = (
  place: GraphPlace,
  question: ImpactQuestion,
  options?: AskOptions,
) => Promise<ImpactAnswer>;

export function createImpactReader(
  graph: Pick<Graph, 'ask'>,
  /** The changes of a worker's session; null for another. */
  changesOf: (session: string) => Promise<ChangedCode | null>,
): ReadImpact {
  return async (place, { paths, range, limit }, options) => {
    const own =
      paths !== null || range !== null || place.session === undefined ? null : await changesOf(place.session);
    const asked = await graph.ask(
      place,
      {
        ask: 'impact',
        paths: own?.files.map(({ path }) => path) ?? (paths === null ? null : [...paths]),
        range,
        ...(own === null ? {} : { touched: listTouchedLines(own) }),
      },
      options,
    );
    const impact = pickAnswer(asked, 'impact')?.impact;
    const gone = own?.removed ?? impact?.removed ?? [];
    const removed = gone.slice(0, MOST_REMOVED);
    const ours = { removed, is_stale: asked.stale !== null, exact: asked.exact };
    if (impact === undefined) return { ...describeGraphState(asked), ...NO_IMPACT, ...ours };
    const wire = toWireImpact(impact, limit);
    const { empty, why } = explainNothing(wire, gone, describeUnsure(impact.unsure));
    const unread = empty === 'not_indexed' ? null : describeUnindexed(wire.not_indexed);
    const doubts = [why, own?.doubt, unread, describeRemoved(gone)].filter((each) => each != null);
    return { ...describeGraphState(asked, empty, doubts.join('; ') || null), ...wire, ...ours };
  };
}

const NO_IMPACT: WireImpact = {
  files: 0,
  symbols: [],
  reached: [],
  tests: [],
  not_indexed: [],
  more: 0,
  summary: 'nothing is known about it',
};

const listTouchedLines = ({ files }: ChangedCode): TouchedLines =>
  Object.fromEntries(files.flatMap(({ path, lines }) => (lines === null ? [] : [[path, lines]])));

const MOST_NAMED = 3;
const MOST_REMOVED = 20;

const nameSome = (paths: readonly string[]): string =>
  `${paths.slice(0, MOST_NAMED).join(', ')}${paths.length > MOST_NAMED ? ', …' : ''}`;

const describeUnindexed = (unknown: readonly string[]): string | null =>
  unknown.length === 0 ? null : `not indexed: ${nameSome(unknown)}`;

const describeRemoved = (removed: readonly string[]): string | null =>
  removed.length === 0
    ? null
    : `the users of declarations in ${formatCount(removed.length, 'removed file')} are not known`;

function explainNothing(
  { files, reached, symbols, not_indexed: unknown }: WireImpact,
  removed: readonly string[],
  unsure: string | null,
): { empty: string | null; why: string | null } {
  if (files === 0 && unknown.length > 0)
    return { empty: 'not_indexed', why: `${nameSome(unknown)}: missing, ignored, or not a source` };
  if (files === 0 && removed.length === 0) return { empty: 'no_changes', why: 'nothing has changed' };
  if (reached.length > 0) return { empty: null, why: null };
  const why =
    symbols.length === 0
      ? 'no symbol is declared in the changed lines'
      : unsure === null
        ? 'nothing else refers to the symbols declared there'
        : `no reference to the symbols declared there is certain: ${unsure}`;
  return { empty: unsure === null ? 'no_callers' : 'unsure_callers', why };
}

/** Returns the progress of an index, for people. */
export const describeIndexing = ({ phase, done, total }: IndexProgress): string =>
  `${PHASES[phase]}: ${done} of ${total}`;

const PHASES = { read: 'files read', resolve: 'references resolved', compile: 'files compiled' } as const;
