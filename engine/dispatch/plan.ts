import { type Agents, splitCommand } from '../agents/index.ts';
import { type Problem, SvcError, toProblem } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import type { DispatchOptions, RunPlan } from '../board/index.ts';
import type { Task } from '../board/tasks/index.ts';
import type { DispatchDeps } from './context.ts';

/** Chooses the agent for a run of the task: its own, or the one that runs when a task names none. Throws `conflict`. */
export function chooseAgent(agents: Pick<Agents, 'findDefaultAgent'>, task: Task): string {
  const agent = task.agent ?? agents.findDefaultAgent();
  if (agent !== null) return agent;
  throw new SvcError('conflict', `${task.taskId} has no agent`, {
    hint: sentence`{task.assign ${task.taskId} <agent>}`,
  });
}

const programOf = (template: string): string => splitCommand(template)[0] ?? '';

/** Throws `agent_not_found` when the program of the task's agent is not on this machine; other problems show at the start. */
export function checkProgram(
  deps: Pick<DispatchDeps, 'agents' | 'projects'>,
  task: Task,
  options: DispatchOptions,
): void {
  const agents = deps.agents.withOverrides(options.agents);
  const { template } = agents.findCommand(chooseAgent(agents, task));
  deps.projects.checkProgram(programOf(template), agents.resolveFolder(task.project));
}

/** Chooses the hard cap of a run, in seconds: what is asked for, what the task says, what its client or else svc.yaml says. */
export const chooseTimeout = (
  deps: Pick<DispatchDeps, 'timeouts'>,
  task: Task,
  { timeoutSec, agents }: DispatchOptions,
): number => timeoutSec ?? task.timeoutSec ?? agents?.timeoutSec ?? deps.timeouts().timeoutSec;

/** Tells what a dispatch of the task would do now. Only looks; what is in its way is told and not thrown. */
export async function planRun(
  deps: Pick<DispatchDeps, 'agents' | 'runner' | 'circuits' | 'timeouts' | 'sessions' | 'cap'>,
  task: Task,
  options: DispatchOptions,
  profile: string,
): Promise<RunPlan> {
  let problem: Problem | null = null;
  /** The first problem is the one that a dispatch would end with. */
  function noteProblem<T>(look: () => T): T | null {
    try {
      return look();
    } catch (thrown) {
      const found = toProblem(thrown);
      problem ??= found;
      return null;
    }
  }
  const agents = deps.agents.withOverrides(options.agents);
  const race =
    options.race?.map((each) => ({
      agent: each,
      command: noteProblem(() => agents.findCommand(each))?.template ?? null,
    })) ?? null;
  const agent = race?.[0]?.agent ?? noteProblem(() => chooseAgent(agents, task));
  const command = agent === null ? null : noteProblem(() => agents.findCommand(agent));
  const { problem: problemThere, ...there } = await deps.runner.inspect({
    project: task.project,
    program: command === null ? null : programOf(command.template),
    base: options.base ?? null,
    // What a stranger wrote runs confined or not at all, and whoever decides has to know which before they do.
    isConfined: task.stranger !== null && profile === 'strict',
  });
  const circuit = agent === null ? null : deps.circuits.findCircuit(agent);
  const { idleTimeoutSec } = deps.timeouts();
  const { running, queued } = deps.sessions.counts();
  const auth = agent === null ? null : options.gatewayBypass ? 'account' : agents.findAuth(agent);
  return {
    agent,
    command: command?.template ?? null,
    race,
    transport: command?.transport ?? null,
    auth,
    keyBeforeLogin: agent === null || auth !== 'account' ? null : agents.findKeyBeforeLogin(agent),
    profile,
    heldBack: circuit === null ? null : { until: circuit.reopenAt, code: circuit.code, text: circuit.text },
    project: task.project,
    inplace: false,
    ...there,
    timeoutSec: chooseTimeout(deps, task, options),
    idleTimeoutSec,
    workers: { running, queued, cap: deps.cap },
    starts: running + queued + (race?.length ?? 1) <= deps.cap && circuit === null ? 'now' : 'queued',
    problem: problem ?? problemThere,
  };
}
