import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatCost, formatCount, markEstimate, toPrintable } from '../../../engine/core/base/text.ts';
import type { Racer, RaceState, WireValue } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { findStateStyle } from '../../paint.ts';
import { formatFacts, formatRows } from '../../print.ts';
import { runFlags } from '../../sessions/dispatching.ts';

type RacerView = WireValue<Racer>;

const idArg = [{ name: 'id', about: 'task id, or a unique prefix', completes: 'task' }] as const;

/** Returns one word for the outcome of a session in its race. */
export function describeRacer(
  { session_id, state, failure, pause, resume_at, branch_state, held }: RacerView,
  winner: string | null,
): string {
  if (session_id === winner) return 'promoted';
  if (branch_state === 'discarded') return 'discarded';
  if (state === 'queued' && resume_at !== null) return `paused ${pause?.code ?? ''}`.trimEnd();
  if (state === 'queued' && held !== null) return `queued, suspended: ${held.code}`;
  if (state !== 'ended') return state;
  return failure === null ? 'ready' : failure.code;
}

const describeEvidence = ({ evidence }: RacerView): string => {
  const { state, rerun, rerun_state } = evidence;
  if (rerun_state !== null) return `${state}, rerun ${rerun_state}`;
  return rerun === null ? state : `${state} ${rerun.agree}/${rerun.ran}`;
};

const formatElapsed = (ms: number | null): string => {
  if (ms === null) return '';
  const seconds = Math.round(ms / 1000);
  return seconds < 60
    ? `${seconds}s`
    : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
};

const formatRacers = (
  { sessions, race }: { sessions: readonly RacerView[]; race: { winner: string | null } },
  { stdout, paint }: Pick<CommandContext, 'stdout' | 'paint'>,
): Promise<string> =>
  formatRows(
    sessions,
    [
      { head: 'session', value: (each) => each.session_id },
      { head: 'agent', value: (each) => each.agent },
      {
        head: 'state',
        value: (each) => describeRacer(each, race.winner),
        style: (each) => findStateStyle(describeRacer(each, race.winner)),
      },
      { head: 'evidence', value: describeEvidence },
      { head: 'files', value: (each) => each.files, right: true },
      { head: '+', value: (each) => each.insertions, right: true },
      { head: '-', value: (each) => each.deletions, right: true },
      {
        head: 'tokens',
        value: ({ usage }) =>
          usage && markEstimate(String(usage.input + usage.output), usage.estimated_tokens > 0),
        right: true,
      },
      {
        head: 'cost',
        value: ({ usage }) => usage && formatCost(usage.cost_usd, usage),
        right: true,
      },
      { head: 'time', value: (each) => formatElapsed(each.elapsed_ms), right: true },
    ],
    stdout,
    paint,
  );

const NEXT: Readonly<Record<RaceState, string | null>> = {
  open: 'svc merge <session> merges one and discards the others; svc diff shows one',
  promoted:
    'svc worktree undo <session> undoes the promotion; svc worktree restore brings one of the others back',
  lost: 'svc task race tries it again; svc log shows what went wrong',
  cancelled: null,
};

async function showRace(context: CommandContext, id: string): Promise<void> {
  const client = await context.engine();
  const compared = await client.call('task.compare', { id });
  const { task, race, sessions } = compared;
  const rows = await formatRacers(compared, context);
  const isUnderWay = race.state === 'open' && sessions.some(({ state }) => state !== 'ended');
  context.result(compared, () =>
    [
      formatFacts(
        [
          ['task', `${task.task_id}: ${toPrintable(task.title)}`],
          ['race', isUnderWay ? 'in progress' : race.state === 'open' ? 'waits for your choice' : race.state],
          ['base', race.base_commit?.slice(0, 10) ?? null],
        ],
        context.paint,
      ),
      '',
      rows,
    ].join('\n'),
  );
  const next = NEXT[race.state];
  if (next !== null) context.note(next);
}

const race = defineCommand({
  name: 'task race',
  about: 'start several agents on one task, each in a worktree from the same commit; one is promoted',
  args: idArg,
  flags: {
    agents: {
      type: 'string',
      value: 'a,b,c',
      about: 'comma-separated presets; a repeated preset runs twice',
    },
    hold: { type: 'boolean', about: 'wait for approval: one decision for all' },
    base: { type: 'string', value: 'branch', about: 'branch to create the worktrees from' },
    timeout: { type: 'number', value: 'seconds', about: 'time limit of each run' },
    keepWorktree: { type: 'boolean', about: 'keep the worktree after a promote' },
    on: runFlags.on,
    pool: runFlags.pool,
    force: { type: 'boolean', about: 'skip the ledger gate; recorded' },
    show: { type: 'boolean', about: 'like task compare: start nothing' },
  },
  examples: [
    'task race t-4 --agents claude,codex,opencode',
    'task race t-4 --agents claude,claude --hold',
    'task race t-4 --show',
  ],
  async run(context) {
    const { agents, hold, base, timeout, keepWorktree, on, pool, force, show } = context.flags;
    if (show) return showRace(context, context.arg(0));
    const wanted = (agents ?? '')
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
    if (wanted.length < 2)
      throw new SvcError('usage', 'a race needs at least two agents: --agents claude,codex', {
        hint: `svc task run ${context.arg(0)} starts one`,
      });
    const client = await context.engine();
    const begun = await client.call('task.race', {
      id: context.arg(0),
      agents: wanted,
      ...(hold ? { hold } : {}),
      ...(base === undefined ? {} : { base }),
      ...(timeout === undefined ? {} : { timeout_sec: timeout }),
      ...(keepWorktree ? { keep_worktree: true } : {}),
      ...(on === undefined ? {} : { on }),
      ...(pool === undefined ? {} : { pool }),
      ...(force ? { force: true } : {}),
    });
    context.result(begun, ({ task, decision, sessions }) =>
      sessions.length === 0
        ? `${task.task_id} waits for ${decision?.decision_id}: a race of ${formatCount(wanted.length, 'agent')}`
        : `race of ${task.task_id} started: ${sessions.map((each) => `${each.session_id} ${each.agent}`).join(', ')}; svc task compare ${task.task_id}`,
    );
    for (const agent of begun.held)
      context.note(
        `${toPrintable(agent)} is suspended after repeated failures: its session waits; svc agents reset ${toPrintable(agent)}`,
      );
    return undefined;
  },
});

const compare = defineCommand({
  name: 'task compare',
  about: 'show the sessions of a race side by side: state, evidence, size, tokens, money, time',
  args: idArg,
  flags: outputFlags,
  examples: ['task compare t-4', 'task compare t-4 --json'],
  run: (context) => showRace(context, context.arg(0)),
});

export const raceCommands: readonly Command[] = [race, compare];
