import { renderWords } from '../../core/api/words.ts';
import { type SentenceWords, sentence } from '../../core/base/sentence.ts';
import { formatCost, markEstimate, toPrintable } from '../../core/base/text.ts';
import {
  chairAddress,
  formatSitePath,
  type NextStep,
  type Session,
  type SessionPeers,
  workLeftBy,
} from '../../workers/sessions/index.ts';
import type { SessionOutcome } from '../deps.ts';

/** Lists the recipients of a handoff: the Chair's seat, and its dispatcher if that is not a Chair. */
export function listHandoffRecipients(session: Session, peers: SessionPeers): string[] {
  const parent = session.parent === null ? null : peers.find(session.parent);
  if (parent === null) return [chairAddress(session.project)];
  if (parent.seat === 'chair') return [chairAddress(parent.project)];
  return [chairAddress(session.project), parent.sessionId];
}

/** Formats the message to the Chair about the end of a worker's session. */
export function formatHandoff(session: Session, outcome: SessionOutcome, now: number): string {
  const { sessionId, taskId } = session;
  const isSealed = outcome.outcome.status === 'done';
  const facts: [string, string | number | null][] = [
    ['task', `${taskId}: ${toPrintable(session.title)}`],
    [
      'verdict',
      isSealed ? (outcome.commits === 0 ? 'done' : 'ready') : `failed: ${describeVerdict(session, outcome)}`,
    ],
    ['exit code', outcome.exitCode ?? 'none'],
    ['duration', describeDuration(session, now)],
    ['branch', session.branch],
    ['commits', describeCommits(session, outcome)],
    ['files changed', describeChanges(outcome)],
    ...outcome.left.map((each): [string, string] => [
      'look at',
      toPrintable(each).slice(0, MOST_OF_LINE).toWellFormed(),
    ]),
    ['verification', outcome.verification],
    ['tokens', describeTokens(session)],
  ];
  return [
    `# ${sessionId} ${isSealed ? 'finished' : 'failed'}: ${toPrintable(session.title)}`,
    '',
    ...facts.flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`])),
    '',
    describeNextSteps(session, outcome),
    '',
  ].join('\n');
}

/** Adds a fact to a handoff that has been sent. */
export function addToHandoff(body: string, name: string, value: string): string {
  const end = body.indexOf('\n\nNext: ');
  const line = `\n- ${name}: ${toPrintable(value).slice(0, MOST_OF_LINE).toWellFormed()}`;
  return end < 0 ? body : body.slice(0, end) + line + body.slice(end);
}

const MOST_OF_LINE = 1000;

/** The agent's own words if it gave any; they are untrusted, so printable and cut to one line. */
function describeVerdict(
  { failure }: Session,
  { reason, outcome: { contradiction } }: SessionOutcome,
): string {
  const why =
    failure === null
      ? (reason ?? 'no reason was given')
      : toPrintable(`${failure.code}: ${failure.text}`).slice(0, 400).toWellFormed();
  return contradiction === null ? why : `${why} (${contradiction})`;
}

const describeCommits = (session: Session, { commits }: SessionOutcome): string | number | null =>
  workLeftBy({ ...session, commits }) === 'unreadable' ? 'could not be read' : commits;

function describeTokens({ usage }: Session): string {
  if (usage === null) return 'not reported by its agent';
  const { input, cached, output, costUsd, estimatedTokens } = usage;
  const cost = costUsd === null ? '' : `, ${formatCost(costUsd, usage)}`;
  return `${markEstimate(`${input}`, estimatedTokens > 0)} in (${cached} from a cache), ${output} out${cost}`;
}

function describeChanges({ files, insertions, deletions }: SessionOutcome): string | null {
  return files === null ? null : `${files} (+${insertions ?? 0} -${deletions ?? 0})`;
}

function describeDuration({ startedAt, endedAt }: Session, now: number): string {
  if (startedAt === null) return 'it never started';
  const end = endedAt === null ? now : Date.parse(endedAt);
  const seconds = Math.max(0, Math.round((end - Date.parse(startedAt)) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

function describeNextSteps(session: Session, { outcome }: SessionOutcome): string {
  if (outcome.next.length === 0)
    return outcome.status === 'done' ? 'Next: nothing; it changed no files.' : 'Next: nothing.';
  return `Next: ${outcome.next.map((step) => renderWords(STEPS[step](session), 'anyone')).join(';\nthen ')}.`;
}

/** Each step names its tool and its command, for agents and for people. */
const STEPS: Readonly<Record<NextStep, (session: Session) => SentenceWords>> = {
  read_log: ({ sessionId }) => sentence`{session.log ${sessionId}} shows its output`,
  look_at_branch: () => sentence`check the branch (\`git diff\` against its base, or {worktree.status})`,
  look_at_folder: () => 'it worked in place: check the changes in the project folder',
  find_work: ({ worktree, runner }) =>
    `inspect ${formatSitePath(worktree, runner) ?? 'its branch'} by hand: svc could not read the remaining work`,
  promote: ({ sessionId }) => sentence`promote it with {worktree.promote ${sessionId}}`,
  retry: ({ taskId }) => sentence`{task.run ${taskId}} runs it again; its work stays on its branch`,
  decide: ({ taskId }) => sentence`{task.show ${taskId}} names the decision that replaced it`,
};
