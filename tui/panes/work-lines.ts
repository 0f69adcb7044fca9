import { describeUnseen, formatCount, formatLocalTime } from '../../engine/core/base/text.ts';
import { describeSensitive, explainPullRequest, outcomeOfSession, workLeftBy } from '../../engine/index.ts';
import type {
  CommentRow,
  ListedEvidence,
  ListedLock,
  ListedTrial,
  ListedWork,
  ShownSession,
} from '../state/rows.ts';
import { measureCells } from '../text/cells.ts';
import { cleanText, makeDrawable, renderFacts, truncateStart } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { createEvidenceFact, describeLocksOf, getTrialHead, renderEvidenceLines } from './evidence.ts';
import { renderProblem } from './lines.ts';
import { countUnseenOfPatch, renderPatch } from './patch-lines.ts';

const BAR_CELLS = 24;

/** Explains why the checkout of the base cannot follow a promotion. */
export const explainCheckout = ({ base, checkout }: ListedTrial): string =>
  `the checkout of ${base} ${checkout.reason ?? `has changes in ${checkout.paths.slice(0, 5).join(', ')}`}`;

const canGoOn = ({ state, worktree }: ShownSession): boolean => state === 'ended' && worktree !== null;

/** Lists facts on whether a promotion would succeed. */
function listTrialFacts(
  { trial, tried_at: at }: ListedWork,
  row: ShownSession,
): readonly (readonly [string, string, TextStyle?])[] {
  const tried = `tried ${formatLocalTime(at).slice(11)}`;
  if ('problem' in trial) return [['trial', `${trial.problem} (${tried})`, 'warn']];
  if (trial.refused !== null)
    return [['trial', `${trial.refused.message}. ${trial.refused.hint ?? ''} (${tried})`, 'warn']];
  if (trial.already_merged) return [['trial', `${trial.base} already contains this work, ${tried}`, 'good']];
  const facts: (readonly [string, string, TextStyle?])[] =
    trial.conflicts.length === 0
      ? [['trial', `no conflicts, ${tried} (nothing was written)`, 'good']]
      : [
          [
            'trial',
            `conflicts in ${trial.conflicts.join(', ')}, ${tried}${canGoOn(row) ? `; F has its worker merge ${trial.base} and resolve them` : ''}`,
            'bad',
          ],
        ];
  if (trial.sensitive.length > 0) facts.push(['check', describeSensitive(trial.sensitive), 'warn']);
  if (trial.checkout.state === 'dirty') {
    facts.push(['checkout', explainCheckout(trial), 'warn']);
  }
  return facts;
}

/** The context of a preview, in addition to the work itself. */
export interface WorkContext {
  /** Null while it is being fetched, an error message if that failed. */
  evidence: ListedEvidence | string | null;
  comments: readonly CommentRow[];
  /** The row of the patch that the cursor is on; null for none. */
  cursor: number | null;
  locks: readonly ListedLock[];
  /** The impact of the work, while a promotion is being asked about. */
  impact: readonly [string, string, TextStyle?] | null;
  /** Facts about the run. */
  run: readonly StyledLine[];
  /** True if its files are listed next to the diff. */
  hasFilesBox: boolean;
  /** Effects of a rerun of the task; empty if it cannot be rerun. */
  again: readonly StyledLine[];
  now: number;
}

function listEvidenceFacts(
  { evidence }: WorkContext,
  head: string | null,
): readonly (readonly [string, string, TextStyle?])[] {
  if (evidence === null) return [];
  return [typeof evidence === 'string' ? ['tests', evidence, 'warn'] : createEvidenceFact(evidence, head)];
}

/** Renders trial merge, evidence, commits, files and patch of a session. The facts that a promotion depends on come first. */
export function renderWorkLines(
  work: ListedWork,
  row: ShownSession,
  beside: WorkContext,
  cells: number,
): {
  facts: StyledLine[];
  lines: StyledLine[];
  essential: Record<string, number>;
  findPatchLine(row: number): number;
  colour(line: number, left: number): StyledLine | undefined;
} {
  const { evidence, comments } = beside;
  const head = getTrialHead(work);
  const { commits, files, patch } = work;
  const shown = renderPatch(work, comments, beside.cursor, cells);
  const added = files.reduce((sum, each) => sum + each.insertions, 0);
  const removed = files.reduce((sum, each) => sum + each.deletions, 0);
  const isPromoted = row.promoted_at !== null;
  const request = explainPullRequest(row);
  const holds = describeUnseen(countUnseenOfPatch(work));
  const essential: (readonly [string, string, TextStyle?])[] = [
    [
      'branch',
      `${work.branch ?? 'gone'} → ${work.base ?? 'no branch'}   ${formatCount(commits.length, 'commit')} · ${formatCount(files.length, 'file')} · +${added} -${removed}`,
    ],
    ...(request === null ? [] : [['request', request] as const]),
    ...(isPromoted ? [['promoted', `into ${work.base}`, 'good'] as const] : listTrialFacts(work, row)),
    ...listEvidenceFacts(beside, head),
    ...(holds === null ? [] : [['patch', `it ${holds}; they are written by number`, 'bad'] as const]),
    ...(comments.length === 0
      ? []
      : [
          [
            'comments',
            `${formatCount(comments.length, 'comment')} on its lines; F sends them to it`,
            'warn',
          ] as const,
        ]),
  ];
  const reported =
    evidence === null || typeof evidence === 'string'
      ? null
      : renderEvidenceLines(evidence, beside.now, cells);
  const ofRun = [
    ...renderFacts(
      [
        ...essential,
        ...(beside.impact === null ? [] : [beside.impact]),
        ['locks', describeLocksOf(beside.locks, row.session_id)],
        ['title', row.title],
      ],
      cells,
    ),
    ...beside.run,
    ...(row.failure === null
      ? []
      : renderProblem({ message: `the run failed: ${describeFailure(row)}` }, cells)),
    ...beside.again,
  ];
  const above = [
    ...ofRun,
    ...(commits.length === 0 ? [[span(explainNoCommits(row), 'dim')] as StyledLine] : []),
    ...commits.map(
      (commit): StyledLine => [
        span(commit.id.slice(0, 10), 'dim'),
        span(` ${cleanText(commit.subject)}`),
        span(` (${cleanText(commit.author)})`, 'dim'),
      ],
    ),
    ...(beside.hasFilesBox || files.length === 0 ? [] : [[], ...renderStatLines(files, cells)]),
    ...(reported === null ? [] : [[]]),
  ];
  const lines = [
    ...shown.lines,
    ...(patch.truncated
      ? [[span('the patch continues: svc diff shows all of it', 'warn')] as StyledLine]
      : []),
  ];
  return {
    facts: [...above, ...(reported?.lines ?? [])],
    lines,
    findPatchLine: shown.findLine,
    colour: shown.colour,
    essential: {
      promote: renderFacts(essential, cells).length,
      ...(beside.again.length === 0 ? {} : { run: ofRun.length, resume: ofRun.length }),
      ...(reported === null ? {} : { rerun: above.length + reported.commands }),
    },
  };
}

/** Explains why the run failed, and what its worker reported if that differs. */
export const describeFailure = (row: ShownSession): string => {
  const { failure, contradiction } = getOutcome(row);
  return `${failure?.text ?? ''}${contradiction === null ? '' : ` (${contradiction})`}`;
};

const getOutcome = (row: ShownSession) =>
  outcomeOfSession({ ...row, ownWord: row.own_word }, { mayRetry: false });

const explainNoCommits = (row: ShownSession): string => {
  if (row.state !== 'ended') return 'no commits yet';
  return workLeftBy(row) === 'unreadable'
    ? 'its commits could not be read when it ended'
    : 'no commits: the worker changed nothing';
};

/** Path, count and bar of each file, as in `git diff --stat`. */
function renderStatLines(files: ListedWork['files'], cells: number): StyledLine[] {
  const most = Math.max(1, ...files.map((each) => each.insertions + each.deletions));
  const scale = Math.min(1, BAR_CELLS / most);
  const scaleBar = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round(count * scale)));
  const longest = Math.max(0, ...files.map((each) => measureCells(makeDrawable(each.path))));
  const room = Math.max(8, Math.min(longest, cells - BAR_CELLS - 9));
  return files.map(({ path, insertions, deletions }) => {
    const name = truncateStart(makeDrawable(path), room);
    return [
      span(name + ' '.repeat(Math.max(0, room - measureCells(name)))),
      span(` | ${String(insertions + deletions).padStart(4)} `, 'dim'),
      span('+'.repeat(scaleBar(insertions)), 'added'),
      span('-'.repeat(scaleBar(deletions)), 'removed'),
    ];
  });
}
