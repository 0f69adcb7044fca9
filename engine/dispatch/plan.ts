import { type Agents, splitCommand } from '../agents/index.ts';
import { type Problem, SvcError, toProblem } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import type { DispatchOptions, RunPlan } from '../board/index.ts';
import type { Task } from '../board/tasks/index.ts';
import { resolveProgram } from '../runner/processes/index.ts';
import { SESSION_PREFIX } from '../runner/worktrees/index.ts';
import type { DispatchDeps } from './context.ts';

/** The agent that a run of the task has: its own, or the one that runs when a task names none. Throws `conflict`. */
export function agentFor(agents: Pick<Agents, 'findDefaultAgent'>, task: Task): string {
  const agent = task.agent ?? agents.findDefaultAgent();
  if (agent !== null) return agent;
  throw new SvcError('conflict', `${task.taskId} has no agent`, {
    hint: sentence`{task.assign ${task.taskId} <agent>}`,
  });
}

/** Throws `agent_not_found` when the program of the task's agent is not on this machine; other problems show at the start. */
export function checkProgram(
  deps: Pick<DispatchDeps, 'agents' | 'environment'>,
  task: Task,
  options: DispatchOptions,
): void {
  const agents = deps.agents.withOverrides(options.agents);
  const { template } = agents.findCommand(agentFor(agents, task));
  resolveProgram(
    splitCommand(template)[0] ?? '',
    agents.resolveFolder(task.project),
    deps.environment({}).PATH,
  );
}

/** The hard cap of a run, in seconds: what is asked for, what the task says, what its client or else svc.yaml says. */
export const timeoutFor = (
  deps: Pick<DispatchDeps, 'timeouts'>,
  task: Task,
  { timeoutSec, agents }: DispatchOptions,
): number => timeoutSec ?? task.timeoutSec ?? agents?.timeoutSec ?? deps.timeouts().timeoutSec;

/** What a dispatch of the task would do now. Only looks; what is in its way is told and not thrown. */
export async function planRun(
  deps: DispatchDeps,
  task: Task,
  options: DispatchOptions,
  profile: string,
): Promise<RunPlan> {
  const { base } = options;
  let problem: Problem | null = null;
  /** The first problem is the one that a dispatch would end with. */
  async function known<T>(look: () => T | Promise<T>): Promise<T | null> {
    try {
      return await look();
    } catch (thrown) {
      const found = toProblem(thrown);
      problem ??= found;
      return null;
    }
  }
  const agents = deps.agents.withOverrides(options.agents);
  const agent = await known(() => agentFor(agents, task));
  const command = agent === null ? null : await known(() => agents.findCommand(agent));
  const folder = await known(() => agents.resolveFolder(task.project));
  if (folder !== null)
    await known(() => deps.setup.checkConsent({ ...task, inplace: false, worktree: null, continues: null }));
  const carries = folder === null ? null : await known(() => deps.setup.readProjectSetup(task.project));
  const origin =
    folder === null
      ? null
      : await known(() =>
          deps.worktrees.findOrigin({
            repositoryPath: folder,
            projectPath: folder,
            ...(base === undefined ? {} : { base }),
          }),
        );
  if (command !== null && folder !== null)
    await known(() =>
      resolveProgram(splitCommand(command.template)[0] ?? '', folder, deps.environment({}).PATH),
    );
  // What a stranger wrote runs confined or not at all, and whoever decides has to know which before they do.
  if (task.stranger !== null && profile === 'strict') await known(() => deps.checkConfinement());
  const circuit = agent === null ? null : deps.circuits.findCircuit(agent);
  const { idleTimeoutSec } = deps.timeouts();
  const { running, queued } = deps.sessions.counts();
  return {
    agent,
    command: command?.template ?? null,
    transport: command?.transport ?? null,
    auth: agent === null ? null : options.gatewayBypass ? 'account' : agents.findAuth(agent),
    profile,
    heldBack: circuit === null ? null : { until: circuit.reopenAt, code: circuit.code, text: circuit.text },
    project: task.project,
    folder,
    inplace: false,
    carries,
    repository: origin?.repository ?? null,
    base: origin?.base ?? origin?.baseCommit ?? null,
    baseCommit: origin?.baseCommit ?? null,
    branchPrefix: SESSION_PREFIX,
    timeoutSec: timeoutFor(deps, task, options),
    idleTimeoutSec,
    workers: { running, queued, cap: deps.cap },
    starts: running + queued < deps.cap && circuit === null ? 'now' : 'queued',
    problem,
  };
}
