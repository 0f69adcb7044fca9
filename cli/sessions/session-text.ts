import {
  formatAge,
  formatCost,
  formatCount,
  formatLocalTime,
  localizeTimes,
  markEstimate,
  toPrintable,
} from '../../engine/core/base/text.ts';
import {
  catalogues,
  type EngineClient,
  explainPullRequest,
  formatSitePath,
  isUntilAnswered,
  type ListedSession,
  type NextStep,
  nameSessionState,
  outcomeOfSession,
  type WireValue,
  workLeftBy,
} from '../../engine/index.ts';
import { findStateStyle, type PaintFunction, paintNothing } from '../paint.ts';
import { formatFacts } from '../print.ts';

export type ShownSession = WireValue<ListedSession>;

/** How a run's processes are contained, so that all of them are found and ended. */
const CONTAINMENT_WORDS = {
  cgroup: 'its own cgroup',
  pidns: 'its own pid namespace',
  marks: 'marks in its environment (a process that clears it and loses its parents can outlive the run)',
};

/** The part of a worker's open question that is shown here. */
export interface OpenAsk {
  id: number;
  from_session: string | null;
  question: string;
}

/** Open questions by asking session. */
export async function loadOpenAsks(client: EngineClient): Promise<Map<string | null, OpenAsk>> {
  const { asks } = await client.call('ask.list', { status: 'open', limit: 100_000 });
  // Oldest first, so the first one has waited longest.
  return new Map(asks.reverse().map((ask) => [ask.from_session, ask]));
}

/** Returns the name of a session's state, as in docs/reference/states.md. */
export const formatState = (row: ShownSession, ask?: OpenAsk): string =>
  nameSessionState(row, undefined, ask !== undefined);

/** Formats a state with the code of a failure, as lists show it. */
export const formatStateWithCode = (row: ShownSession, ask?: OpenAsk): string => {
  const word = formatState(row, ask);
  return word === 'failed' && row.failure !== null ? `${word} ${row.failure.code}` : word;
};

/** Describes the task that another one waits for, and the way out. */
export const describeTaskWait = ({
  task_id: id,
  waits_for: wait,
}: {
  task_id: string;
  waits_for: string | null;
}): string => `waits for ${wait}; svc task after ${id} --none lets it start`;

/** Describes what a session waits for and how it continues; null if it waits for nothing. */
export function describeWait(row: ShownSession, ask?: OpenAsk): string | null {
  const { session_id, state, resume_at, pause, held } = row;
  if (isUntilAnswered(row)) return `${pause?.text ?? 'waits for an answer'}; svc answer resumes it`;
  if (resume_at !== null)
    return `paused until ${formatLocalTime(resume_at)}: ${localizeTimes(pause?.text ?? pause?.code ?? '')}; svc worker resume ${session_id} resumes it now`;
  if (row.waits_for_task !== null)
    return describeTaskWait({ task_id: row.task_id, waits_for: row.waits_for_task });
  if (held !== null)
    return `${held.agent} gets no work until ${formatLocalTime(held.reopen_at)}: it failed ${formatCount(held.failures, 'time')} in a row (${held.code}); svc agents reset ${held.agent} lets it take work again now`;
  if (row.waits_for !== null) return `waits for another machine: ${row.waits_for}`;
  if (state === 'queued') return 'waits for a free worker slot';
  if (ask !== undefined) return `asks: ${ask.question} (svc ask show ${ask.id})`;
  return null;
}

type EndedRow = Pick<
  ShownSession,
  | 'session_id'
  | 'task_id'
  | 'failure'
  | 'own_word'
  | 'worktree'
  | 'inplace'
  | 'runner'
  | 'branch'
  | 'branch_state'
  | 'cwd'
  | 'repository'
  | 'commits'
  | 'promoted_at'
>;

/** The next steps as commands; null if the failure's own remedy already names it. */
const STEPS: Readonly<Record<NextStep, (row: EndedRow) => string | null>> = {
  read_log: () => null,
  decide: () => null,
  look_at_branch: ({ session_id }) => `svc diff ${session_id} shows what it did`,
  look_at_folder: () => "review the changes in the project's folder",
  find_work: ({ worktree, runner, branch }) =>
    `check ${formatSitePath(worktree, runner) ?? branch} by hand: its work could not be read`,
  promote: ({ session_id }) => `svc merge ${session_id} merges it`,
  retry: ({ session_id, task_id, worktree, inplace }) =>
    `${worktree === null && !inplace ? '' : `svc worker resume ${session_id} continues, `}svc task retry ${task_id} starts over`,
};

/** Describes what a person can do after the end of a session; null if nothing is left to do. */
export async function describeNextStep(row: EndedRow, task: { mayRetry: boolean }): Promise<string | null> {
  if (row.promoted_at !== null || row.branch_state === 'merged') return null;
  if (row.branch_state === 'continued')
    return `a later session continued its work on ${row.branch ?? 'its branch'}: svc worktree list`;
  if (row.branch_state === 'discarded')
    return `it was discarded: svc worktree restore ${row.session_id} --worktree brings it back`;
  const { failure, next } = outcomeOfSession({ ...row, ownWord: row.own_word }, task);
  const { findFailure } = await catalogues();
  const remedy = failure === null ? undefined : findFailure(failure.code)?.next;
  const steps = [remedy, ...next.map((step) => STEPS[step](row))].filter((each) => each != null);
  return steps.length === 0 ? null : steps.join('; then ');
}

/** Formats a failure in one line, with its code once. */
export const formatFailure = ({ code, text }: { code: string; text: string }): string =>
  text === code ? code : `${code}: ${localizeTimes(text)}`;

const PRIORITIES: Readonly<Record<number, string>> = { '-1': 'low', 1: 'high' };
/** Null for the usual containment, which is not shown. */
export const formatPriority = (priority: number): string | null => PRIORITIES[priority] ?? null;

/** Describes how a run reaches its agent, who pays for it, and what confines it; docs/use/guard.md has the profiles. */
export function describeHow({
  transport,
  auth,
  profile,
}: {
  transport: string | null;
  auth: string | null;
  profile: string | null;
}): string {
  const confined =
    profile === null
      ? []
      : [`${profile === 'strict' ? 'in a sandbox' : 'without a sandbox'} (guard.profile ${profile})`];
  return [
    ...(transport === 'acp' ? ['by the agent client protocol'] : []),
    ...(auth === null ? [] : [auth === 'gateway' ? 'through the gateway' : 'with your own login']),
    ...confined,
  ].join(', ');
}

const MARKS = { pending: '[ ]', active: '[>]', done: '[x]' } as const;

/** Formats everything that `svc worker show` prints. */
export function formatSession(
  row: ShownSession,
  {
    ask,
    next,
    paint = paintNothing,
  }: { ask?: OpenAsk | undefined; next: string | null; paint?: PaintFunction },
): string {
  const { usage, failure, started_at, ended_at, idle_timeout_sec, token_budget, untold } = row;
  const cost = usage?.cost_usd == null ? '' : `, ${formatCost(usage.cost_usd, usage)}`;
  const plan = row.plan.map(({ text, state }) => `  ${MARKS[state]} ${toPrintable(text)}`);
  const limits = [
    `${row.timeout_sec} s`,
    ...(idle_timeout_sec > 0 ? [`${idle_timeout_sec} s without output`] : []),
    ...(token_budget === null ? [] : [`${token_budget} tokens of its task`]),
  ];
  const formatSpan = (from: string, to: string): string => formatAge(from, Date.parse(to));
  const lives = row.state === 'running' || row.state === 'starting';
  return [
    formatFacts(
      [
        ['session', `${row.session_id} of ${row.task_id}: ${row.title}`],
        ['state', formatState(row, ask), findStateStyle(formatState(row, ask))],
        ['waits', describeWait(row, ask)],
        ['failure', failure === null ? null : formatFailure(failure), 'bad'],
        ['said', row.own_word === null ? null : `its worker marked the task ${row.own_word}`],
        ['next', next],
        [
          'worker',
          `${row.worker_id}${row.machine === null ? '' : ` @${row.machine}`}, agent ${row.agent}${row.model === null ? '' : `, model ${row.model}`}`,
        ],
        ['began', started_at === null ? null : formatLocalTime(started_at)],
        [
          'ended',
          ended_at === null
            ? null
            : `${formatLocalTime(ended_at)}${started_at === null ? '' : `, after ${formatSpan(started_at, ended_at)}`}`,
        ],
        ['runs', row.runs > 1 ? row.runs : null],
        ['continues', row.continues],
        ['how', describeHow(row)],
        ['held by', row.containment === null ? null : CONTAINMENT_WORDS[row.containment]],
        ['limits', limits.join(', ')],
        ['priority', formatPriority(row.priority)],
        ['conversation', row.agent_session],
        [
          'tokens',
          usage === null
            ? null
            : `${markEstimate(`${usage.input}`, usage.estimated_tokens > 0)} in (${usage.cached} from cache), ${usage.output} out${cost}`,
        ],
        [
          'spared',
          row.saved_tokens === 0
            ? null
            : `about ${formatCount(row.saved_tokens, 'token')}: outputs that svc has shortened`,
        ],
        ['not reported', untold.length === 0 ? null : `this agent does not report ${untold.join(', or ')}`],
        ['tool calls', row.tool_calls],
        ['does', row.activity],
        ['branch', row.branch],
        ['request', explainPullRequest(row)],
        [
          'started from',
          row.base_commit === null
            ? null
            : `${row.base === null ? '' : `${row.base}@`}${row.base_commit.slice(0, 10)}`,
        ],
        ['worktree', formatSitePath(row.worktree, row.machine)],
        [
          'work',
          row.commits === null
            ? describeUnread(row)
            : `${formatCount(row.commits, 'commit')}, ${formatCount(row.files ?? 0, 'file')}, +${row.insertions} -${row.deletions}`,
        ],
        ['process', lives ? row.pid : null],
      ],
      paint,
    ),
    ...(plan.length === 0 ? [] : ['', 'plan', ...plan]),
  ].join('\n');
}

/** Describes an ended session whose results could not be read, which is not the same as having none. */
export const describeUnread = (
  row: Pick<ShownSession, 'state' | 'branch' | 'cwd' | 'repository' | 'commits'>,
): string | null => (row.state === 'ended' && workLeftBy(row) === 'unreadable' ? 'could not be read' : null);
