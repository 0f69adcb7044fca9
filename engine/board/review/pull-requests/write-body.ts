import { formatCount, toPrintable } from '../../../core/base/text.ts';
import type { Session } from '../../../workers/sessions/index.ts';
import type { Verification } from '../../verify/index.ts';

/** The limit of code hosts, about; they would refuse more. */
const MOST_CHARACTERS = 60_000;

const STATES: Readonly<Record<Verification['state'], string>> = {
  none: 'none was reported',
  reported: 'reported by the worker, not rerun',
  verified: 'verified: svc reran the tests at this commit, and they agree',
  disagrees: 'disagrees: the rerun tests did not end as reported',
  stale: 'stale: it belongs to another commit',
};

/** Writes the text for a reviewer: the origin of the work, and the known results of its tests. */
export function writePullRequestBody(
  { taskId, sessionId, agent, commits, files, insertions, deletions }: Session,
  { state, summary, criteria, tests, rerun }: Verification,
): string {
  const size =
    commits === null
      ? ''
      : `, ${formatCount(commits, 'commit')}, ${formatCount(files ?? 0, 'file')}, +${insertions ?? 0} -${deletions ?? 0}`;
  const again = new Map(rerun?.results.map((each) => [each.command, each.agrees]));
  const text = [
    `Task ${taskId}, session ${sessionId} by ${agent}${size}.`,
    ...(summary === null ? [] : ['', summary]),
    '',
    `Evidence: ${STATES[state]}.`,
    ...criteria.map(
      ({ criterion, status }) =>
        `- [${status === 'met' ? 'x' : ' '}] ${criterion} (${status.replace('_', ' ')})`,
    ),
    ...tests.map(({ command, result }) => {
      const agrees = again.get(command);
      const seen =
        agrees === undefined ? '' : agrees ? '; rerun by svc: agrees' : '; rerun by svc: DISAGREES';
      return `- ${command}: ${result}${seen}`;
    }),
    ...(rerun?.results ?? [])
      .filter(({ isCheck }) => isCheck)
      .map(({ command, agrees }) => `- check ${command}: ${agrees ? 'passed' : 'FAILED'}`),
  ].join('\n');
  const body = toPrintable(text, { lines: true });
  const over = body.length - MOST_CHARACTERS;
  return over <= 0
    ? body
    : `${body.slice(0, MOST_CHARACTERS).toWellFormed()}\n\n(${formatCount(over, 'character')} more, shown by svc verify show)`;
}
