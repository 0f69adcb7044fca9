import {
  describeSensitive,
  formatCount,
  formatLocalTime,
  outcomeOfSession,
  workLeftBy,
} from '../../engine/index.ts';
import type { Evidence, LockRow, SessionRow, Trial, Work } from '../state/model.ts';
import { clean, cleanLines, cut, drawable, factLines, width } from '../text.ts';
import { type Line, type Style, span } from '../theme.ts';
import { evidenceFact, evidenceLines, headOf, lockedBy } from './evidence.ts';
import { heading, problemLines } from './words.ts';

const BAR = 24;

/** Style of a line of a patch in unified format, by how it begins. */
function patchStyle(line: string): Style | undefined {
  if (
    /^(?:diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename|Binary)/.test(
      line,
    )
  )
    return 'strong';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('\\') ? 'dim' : undefined;
}

// A patch may have tens of thousands of lines; it is cut into them once.
const patches = new WeakMap<Work, readonly Line[]>();

function patchLines(work: Work): readonly Line[] {
  const known = patches.get(work);
  if (known) return known;
  const lines = cleanLines(work.patch.text.trimEnd()).map((text): Line => [span(text, patchStyle(text))]);
  patches.set(work, lines);
  return lines;
}

/** What keeps the checkout of the base from following. */
export const checkoutReason = ({ base, checkout }: Trial): string =>
  `the checkout of ${base} ${checkout.reason ?? `has changes in ${checkout.paths.slice(0, 5).join(', ')}`}`;

/** Would promoting go through? */
function trialFacts({ trial, tried_at: at }: Work): readonly (readonly [string, string, Style?])[] {
  const tried = `tried ${formatLocalTime(at).slice(11)}`;
  if ('problem' in trial) return [['trial', `${trial.problem} (${tried})`, 'warn']];
  if (trial.refused !== null)
    return [['trial', `${trial.refused.message}. ${trial.refused.hint ?? ''} (${tried})`, 'warn']];
  if (trial.already_merged) return [['trial', `${trial.base} holds this work already, ${tried}`, 'good']];
  const facts: (readonly [string, string, Style?])[] =
    trial.conflicts.length === 0
      ? [['trial', `no conflicts, ${tried} (nothing was written)`, 'good']]
      : [['trial', `conflicts in ${trial.conflicts.join(', ')}, ${tried}`, 'bad']];
  if (trial.sensitive.length > 0) facts.push(['look at', describeSensitive(trial.sensitive), 'warn']);
  if (trial.checkout.state === 'dirty') {
    facts.push(['checkout', checkoutReason(trial), 'warn']);
  }
  return facts;
}

/** What is known beside the work itself. */
export interface Beside {
  /** Null while it is fetched; a text when it could not be. */
  evidence: Evidence | string | null;
  locks: readonly LockRow[];
  /** What is known of the run itself. */
  run: readonly Line[];
  /** What running its task again would be; empty where that cannot be done. */
  again: readonly Line[];
  now: number;
}

function evidenceFacts(
  { evidence }: Beside,
  head: string | null,
): readonly (readonly [string, string, Style?])[] {
  if (evidence === null) return [];
  return [typeof evidence === 'string' ? ['tests', evidence, 'warn'] : evidenceFact(evidence, head)];
}

/** Commits, files, trial merge, evidence and the patch of a session; first what a promotion is decided by. */
export function workLines(
  work: Work,
  row: SessionRow,
  beside: Beside,
  cells: number,
): { lines: Line[]; essential: Record<string, number> } {
  const { evidence } = beside;
  const head = headOf(work);
  const { commits, files, patch } = work;
  const added = files.reduce((sum, each) => sum + each.insertions, 0);
  const removed = files.reduce((sum, each) => sum + each.deletions, 0);
  const isPromoted = row.promoted_at !== null;
  const essential: (readonly [string, string, Style?])[] = [
    [
      'branch',
      `${work.branch ?? 'gone'} → ${work.base ?? 'no branch'}   ${formatCount(commits.length, 'commit')} · ${formatCount(files.length, 'file')} · +${added} -${removed}`,
    ],
    ...(isPromoted ? [['promoted', `into ${work.base}`, 'good'] as const] : trialFacts(work)),
    ...evidenceFacts(beside, head),
  ];
  const reported =
    evidence === null || typeof evidence === 'string' ? null : evidenceLines(evidence, beside.now, cells);
  const ofRun = [
    ...factLines(
      [...essential, ['locks', lockedBy(beside.locks, row.session_id)], ['title', row.title]],
      cells,
    ),
    ...beside.run,
    ...(row.failure === null ? [] : problemLines({ message: `the run failed: ${failureWords(row)}` }, cells)),
    ...beside.again,
  ];
  const above = [
    ...ofRun,
    ...(commits.length === 0 ? [[span(nothingWords(row), 'dim')] as Line] : []),
    ...commits.map(
      (commit): Line => [
        span(commit.id.slice(0, 10), 'dim'),
        span(` ${clean(commit.subject)}`),
        span(` (${clean(commit.author)})`, 'dim'),
      ],
    ),
    ...(files.length === 0 ? [] : [[]]),
    ...statLines(files, cells),
    ...(reported === null ? [] : [[]]),
  ];
  const lines = [
    ...above,
    ...(reported?.lines ?? []),
    ...(patch.text === '' ? [] : [[], heading('patch'), ...patchLines(work)]),
    ...(patch.truncated
      ? [[span('the patch goes on: svc worktree diff shows all of it', 'warn')] as Line]
      : []),
  ];
  return {
    lines,
    essential: {
      promote: factLines(essential, cells).length,
      ...(beside.again.length === 0 ? {} : { retry: ofRun.length }),
      ...(reported === null ? {} : { rerun: above.length + reported.commands }),
    },
  };
}

/** Why it failed, and what its worker had said where that differs. */
export const failureWords = (row: SessionRow): string => {
  const { failure, contradiction } = endOf(row);
  return `${failure?.text ?? ''}${contradiction === null ? '' : ` (${contradiction})`}`;
};

const endOf = (row: SessionRow) => outcomeOfSession({ ...row, ownWord: row.own_word }, { mayRetry: false });

const nothingWords = (row: SessionRow): string => {
  if (row.state !== 'ended') return 'no commits yet';
  return workLeftBy(row) === 'unreadable'
    ? 'its commits could not be read when it ended'
    : 'no commits: the worker changed nothing';
};

/** Path, count and a bar, as `git diff --stat` has them. */
function statLines(files: Work['files'], cells: number): Line[] {
  const most = Math.max(1, ...files.map((each) => each.insertions + each.deletions));
  const scale = Math.min(1, BAR / most);
  const bar = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round(count * scale)));
  const longest = Math.max(0, ...files.map((each) => width(drawable(each.path))));
  const room = Math.max(8, Math.min(longest, cells - BAR - 9));
  return files.map(({ path, insertions, deletions }) => {
    const name = cut(drawable(path), room);
    return [
      span(name + ' '.repeat(Math.max(0, room - width(name)))),
      span(` | ${String(insertions + deletions).padStart(4)} `, 'dim'),
      span('+'.repeat(bar(insertions)), 'added'),
      span('-'.repeat(bar(deletions)), 'removed'),
    ];
  });
}
