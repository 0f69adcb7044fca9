import { printable } from '../../text.ts';
import type { SessionOutcome } from '../deps.ts';
import { chairAddress, type Peers } from '../peers.ts';
import type { Session } from '../sessions/index.ts';

/** Who is told of the end of a session: the Chair's seat, and the session that dispatched it when that is no Chair. */
export function handoffTo(session: Session, peers: Peers): string[] {
  const parent = session.parent === null ? null : peers.find(session.parent);
  if (parent === null) return [chairAddress(session.project)];
  if (parent.seat === 'chair') return [chairAddress(parent.project)];
  return [chairAddress(session.project), parent.sessionId];
}

/** What the Chair is told when a worker's session has ended. */
export function handoffText(session: Session, outcome: SessionOutcome, now: number): string {
  const { sessionId, taskId } = session;
  const facts: [string, string | number | null][] = [
    ['task', `${taskId}: ${printable(session.title)}`],
    ['verdict', outcome.sealed ? 'sealed' : `failed: ${whyOf(session, outcome)}`],
    ['exit code', outcome.exitCode ?? 'none'],
    ['duration', durationOf(session, now)],
    ['branch', session.branch],
    ['commits', outcome.commits],
    ['files changed', changesOf(outcome)],
    ['verification', outcome.verification],
    ['tokens', tokensOf(session)],
  ];
  return [
    `# ${sessionId} ${outcome.sealed ? 'sealed' : 'failed'}`,
    '',
    ...facts.flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`])),
    '',
    nextStep(session, outcome),
    '',
  ].join('\n');
}

/** In the words of the agent where it has some; those are data, and no longer than a line. */
function whyOf({ failure }: Session, { reason }: SessionOutcome): string {
  if (failure === null) return reason ?? 'no reason was given';
  return printable(`${failure.code}: ${failure.text}`).slice(0, 400);
}

function tokensOf({ usage }: Session): string {
  if (usage === null) return 'its agent does not tell';
  const { input, cached, output, costUsd } = usage;
  const cost = costUsd === null ? '' : `, $${costUsd.toFixed(4)}`;
  return `${input} in (${cached} from a cache), ${output} out${cost}`;
}

function changesOf({ files, insertions, deletions }: SessionOutcome): string | null {
  return files === null ? null : `${files} (+${insertions ?? 0} -${deletions ?? 0})`;
}

function durationOf({ startedAt, endedAt }: Session, now: number): string {
  if (startedAt === null) return 'it never started';
  const end = endedAt === null ? now : Date.parse(endedAt);
  const seconds = Math.max(0, Math.round((end - Date.parse(startedAt)) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

function nextStep({ sessionId, taskId, branch }: Session, { sealed, commits }: SessionOutcome): string {
  if (!sealed)
    return `Next: \`svc task log ${taskId}\` shows what it printed; what it did is kept on its branch.`;
  if (branch === null) return 'Next: it worked in place; look at the changes in the project folder.';
  if (commits === 0) return 'Next: nothing; it has changed no file.';
  return [
    `Next: look at the branch (\`git diff\` against its base, or \`worktree_status\`), then take it over with`,
    `\`worktree_promote\` (session ${sessionId}) or \`svc worktree promote ${sessionId}\`.`,
  ].join('\n');
}
