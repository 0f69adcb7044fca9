import { readIssue, type Task } from '../board/tasks/index.ts';
import type { Verification } from '../board/verify/index.ts';
import { formatCount, toPrintable } from '../core/base/text.ts';
import type { Session } from '../workers/sessions/index.ts';

/** The limit of code hosts, about; they would refuse more. */
const MOST_CHARACTERS = 60_000;

const STATES: Readonly<Record<Verification['state'], string>> = {
  none: 'none was reported',
  reported: 'reported by the worker, not rerun',
  verified: 'verified: svc reran the tests at this commit, and they agree',
  disagrees: 'disagrees: the rerun tests did not end as reported',
  stale: 'stale: it belongs to another commit',
};

/** Words after which code hosts close an issue, before its address. */
const CLOSES =
  /\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b(?=:?\s+https?:)/gi;
/** Breaks a word for a code host, invisibly for a reader. */
const BREAK = '<!-- -->';

/**
 * Makes text of a worker harmless in a pull request: it notifies no one, closes no issue, refers to none and hides
 * nothing.
 */
export const quoteWorker = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/@(?=\w)/g, `@${BREAK}`)
    .replace(/#(?=\d)/g, `#${BREAK}`)
    .replace(/\b(GH-|!)(?=\d)/gi, `$1${BREAK}`)
    .replace(CLOSES, `$1${BREAK}`);

/** Writes which issue the work closes, or refers to: only an issue itself asked for all of it. */
function describeIssue({ source, sourceRef, sourceUrl }: PullRequestOrigin): string[] {
  const issue = source === 'codehost' ? readIssue(sourceRef) : null;
  if (issue === null) return [];
  const isComment = sourceUrl?.includes('#') ?? false;
  return ['', `${isComment ? 'Refs' : 'Closes'} ${issue.path}#${issue.number}.`];
}

/** The origin of the task that a pull request does. */
export type PullRequestOrigin = Pick<Task, 'source' | 'sourceRef' | 'sourceUrl'>;

/** Writes the text for a reviewer: the origin of the work, and the known results of its tests. */
export function writePullRequestBody(
  { taskId, sessionId, agent, commits, files, insertions, deletions }: Session,
  { state, summary, criteria, tests, rerun }: Verification,
  origin: PullRequestOrigin,
): string {
  const size =
    commits === null
      ? ''
      : `, ${formatCount(commits, 'commit')}, ${formatCount(files ?? 0, 'file')}, +${insertions ?? 0} -${deletions ?? 0}`;
  const again = new Map(rerun?.results.map((each) => [each.command, each.agrees]));
  const text = [
    `Task ${taskId}, session ${sessionId} by ${agent}${size}.`,
    ...(summary === null ? [] : ['', quoteWorker(summary)]),
    '',
    `Evidence: ${STATES[state]}.`,
    ...criteria.map(
      ({ criterion, status }) =>
        `- [${status === 'met' ? 'x' : ' '}] ${quoteWorker(criterion)} (${status.replace('_', ' ')})`,
    ),
    ...tests.map(({ command, result }) => {
      const agrees = again.get(command);
      const seen =
        agrees === undefined ? '' : agrees ? '; rerun by svc: agrees' : '; rerun by svc: DISAGREES';
      return `- ${quoteWorker(command)}: ${result}${seen}`;
    }),
    ...(rerun?.results ?? [])
      .filter(({ isCheck }) => isCheck)
      .map(({ command, agrees }) => `- check ${command}: ${agrees ? 'passed' : 'FAILED'}`),
  ].join('\n');
  const end = [...describeIssue(origin), '', 'Opened by svc.'].join('\n');
  const body = toPrintable(text, { lines: true });
  const over = body.length - MOST_CHARACTERS;
  return over <= 0
    ? `${body}\n${end}`
    : `${body.slice(0, MOST_CHARACTERS).toWellFormed()}\n\n(${formatCount(over, 'character')} more, shown by svc verify show)\n${end}`;
}
