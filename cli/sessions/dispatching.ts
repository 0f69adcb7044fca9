import { asSvcError, SvcError } from '../../engine/core/base/errors.ts';
import { toPrintable } from '../../engine/core/base/text.ts';
import {
  type Decision,
  type EngineClient,
  nameTaskState,
  type Session,
  type Task,
  type WireValue,
} from '../../engine/index.ts';
import type { CommandContext, FlagTable } from '../command.ts';
import { followLog } from './follow-log.ts';
import { describeNextStep, describeTaskWait, formatFailure } from './session-text.ts';

export type ShownTask = WireValue<Task>;
export type SessionView = WireValue<Session>;
export type DecisionView = WireValue<Decision>;

/** The result of every operation that may dispatch. */
export interface DispatchOutcome {
  task: ShownTask;
  decision: DecisionView | null;
  session: SessionView | null;
}

/** Flags of every command that dispatches. */
export const runFlags = {
  inplace: { type: 'boolean', about: "work in the project's folder instead of a worktree" },
  keepWorktree: { type: 'boolean', about: 'keep the worktree after a promote' },
  name: { type: 'string', about: 'stable name of the worker' },
  on: { type: 'string', value: 'machine', about: 'run on this machine of the fleet; local: here' },
  pool: { type: 'string', about: 'run on a machine of this pool; local: here' },
  base: { type: 'string', value: 'branch', about: 'branch to create the worktree from' },
  pr: { type: 'number', value: 'number', about: 'pull request to start from; fetches it as the base' },
  timeout: { type: 'number', value: 'seconds', about: 'time limit of the run' },
  force: { type: 'boolean', about: 'skip the ledger gate; recorded' },
  follow: { type: 'boolean', short: 'f', about: 'follow the log until the run ends' },
} as const satisfies FlagTable;

export type RunContext = CommandContext<typeof runFlags>;

/**
 * Reads those flags into the operation's input, and fetches the pull request that they name. Throws what
 * `fetchPullRequest` throws.
 * @param findProject the project of the task
 */
export async function readRunInput(
  context: RunContext,
  client: EngineClient,
  findProject: () => Promise<string | null | undefined>,
): Promise<RunInput> {
  const { base, pr } = context.flags;
  const input = readPlainInput(context);
  if (pr === undefined) return input;
  if (base !== undefined) throw new SvcError('usage', '--pr and --base name two bases');
  const { fetchPullRequest } = await import('./fetch-pull-request.ts');
  const { branch } = await fetchPullRequest(context, client, pr, await findProject());
  return { ...input, base: branch };
}

/** Returns how the project of a task is found. */
export const findProjectOf = (client: EngineClient, id: string) => async (): Promise<string | null> =>
  (await client.call('task.show', { id })).task.project;

type RunInput = ReturnType<typeof readPlainInput> & { base?: string };

const readPlainInput = ({ flags }: RunContext) => ({
  ...(flags.inplace ? { inplace: true } : {}),
  ...(flags.keepWorktree ? { keep_worktree: true } : {}),
  ...(flags.name === undefined ? {} : { name: flags.name }),
  ...(flags.base === undefined ? {} : { base: flags.base }),
  ...(flags.on === undefined ? {} : { on: flags.on }),
  ...(flags.pool === undefined ? {} : { pool: flags.pool }),
  ...(flags.timeout === undefined ? {} : { timeout_sec: flags.timeout }),
  ...(flags.force ? { force: true } : {}),
});

/** Runs an existing task. */
export async function runTask(context: RunContext, client: EngineClient, id: string): Promise<number> {
  const input = { id, ...(await readRunInput(context, client, findProjectOf(client, id))) };
  return reportDispatch(context, client, await sayWhatBecame(client, id, client.call('task.run', input)));
}

/** Awaits a call about a task; its error also says in which state the task is. */
export async function sayWhatBecame<T>(client: EngineClient, id: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (thrown) {
    const { code, message, hint, data, cause } = asSvcError(thrown);
    const shown = await client.call('task.show', { id }).catch(() => null);
    const word = shown === null ? null : nameTaskState(shown.task);
    if (shown === null || word === null || message.includes(word)) throw thrown;
    throw new SvcError(code, `${message}; ${shown.task.task_id} is still ${word}`, {
      ...(hint === undefined ? {} : { hint }),
      data,
      cause,
    });
  }
}

/** Reports what was dispatched; with --follow shows the log and returns the exit code of the run. */
export async function reportDispatch(
  context: RunContext,
  client: EngineClient,
  outcome: DispatchOutcome,
): Promise<number> {
  const { task, session } = outcome;
  if (session === null || !context.flags.follow) {
    context.result(outcome, () =>
      session === null
        ? `${task.task_id} is ${task.status}`
        : `${task.task_id} dispatched as ${session.session_id} to ${task.agent ?? 'the default agent'}; ${task.waits_for === null ? `svc log ${task.task_id} -f` : describeTaskWait(task)}`,
    );
    return 0;
  }
  await followLog(context, client, session.session_id, { from: 0 });
  const shown = await client.call('task.show', {
    id: task.task_id,
  });
  context.result(shown, () => formatEnd(shown.task));
  const last = shown.sessions.at(-1);
  const next =
    last === undefined || shown.task.status === 'done'
      ? null
      : await describeNextStep(last, { mayRetry: shown.task.status === 'failed' });
  if (next !== null) context.note(`hint: ${next}`);
  return shown.task.status === 'done' ? 0 : 1;
}

const formatEnd = (task: ShownTask): string =>
  task.failure === null
    ? `${task.task_id} ${task.status}`
    : `${task.task_id} failed: ${toPrintable(formatFailure(task.failure))}`;
