import type { DispatchOptions, RunPlan } from '../board/index.ts';
import type { Task } from '../board/tasks/index.ts';
import { type ProblemDetails, SvcError, toProblem } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import {
  type AgentAuth,
  type AgentCommand,
  type AgentRegistry,
  checkRoutable,
  listPrograms,
  locateAgent,
} from '../workers/agents/index.ts';
import type { DispatchDeps } from './context.ts';
import { findDestination } from './destination.ts';

/** Chooses the agent for a run of the task: its own, or the default one. Throws `conflict`. */
export function chooseAgent(agents: Pick<AgentRegistry, 'findDefaultAgent'>, task: Task): string {
  const agent = task.agent ?? agents.findDefaultAgent();
  if (agent !== null) return agent;
  throw new SvcError('conflict', `${task.taskId} has no agent`, {
    hint: sentence`{task.assign ${task.taskId} <agent>}`,
  });
}

/** Finds the credentials of an agent's run. */
const chooseAuth = (
  agents: Pick<AgentRegistry, 'findAuth'>,
  agent: string,
  { gatewayBypass }: DispatchOptions,
): AgentAuth => (gatewayBypass ? 'account' : agents.findAuth(agent));

const listProgramsOf = ({ template }: AgentCommand, agent: string): string[] =>
  listPrograms(locateAgent(template, agent));

/**
 * Throws `agent_not_found` if a program of the agent's command is not on this machine, and `gateway_unroutable` if
 * its model calls cannot take their required route; other problems show at the start.
 */
export function checkCommandOfRun(
  deps: Pick<DispatchDeps, 'agents' | 'projects' | 'machines' | 'sessions'>,
  task: Task,
  options: DispatchOptions,
): void {
  const agents = deps.agents.withOverrides(options.agents);
  const agent = chooseAgent(agents, task);
  const command = agents.findCommand(agent);
  // Another machine has its own programs, and takes no session whose agent it lacks.
  if (findDestination(deps, agents.resolveProjectId(task.project), options) === null)
    for (const program of listProgramsOf(command, agent))
      deps.projects.checkProgram(program, agents.resolveFolder(task.project));
  if (chooseAuth(agents, agent, options) === 'gateway') checkRoutable(command.template, agent);
}

/** Chooses the time limit of a run, in seconds: as requested, from the task, from its client, or from svc.yaml. */
export const chooseTimeout = (
  deps: Pick<DispatchDeps, 'timeouts'>,
  task: Task,
  { timeoutSec, agents }: DispatchOptions,
): number => timeoutSec ?? task.timeoutSec ?? agents?.timeoutSec ?? deps.timeouts().timeoutSec;

/** Plans a dispatch of the task. Changes nothing; obstacles are returned and not thrown. */
export async function planRun(
  deps: Pick<
    DispatchDeps,
    'agents' | 'runner' | 'machines' | 'circuits' | 'timeouts' | 'sessions' | 'clock' | 'cap'
  >,
  task: Task,
  options: DispatchOptions,
  profile: string,
): Promise<RunPlan> {
  let problem: ProblemDetails | null = null;
  /** The first problem is the one that a dispatch would fail with. */
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
  const project = noteProblem(() => agents.resolveProjectId(task.project)) ?? task.project;
  const destination = noteProblem(() => findDestination(deps, project, options));
  const isElsewhere = destination !== null || problem !== null;
  const { problem: problemThere, ...there } = await deps.runner.inspect({
    project: task.project,
    programs: agent === null || command === null || isElsewhere ? [] : listProgramsOf(command, agent),
    base: options.base ?? null,
    // A task from an untrusted author runs confined or not at all, and the person who decides has to know which.
    isConfined: task.stranger !== null && profile === 'strict' && !isElsewhere,
  });
  const continued = options.continues === undefined ? null : deps.sessions.get(options.continues);
  const circuit = agent === null ? null : deps.circuits.findCircuit(agent);
  const { idleTimeoutSec } = deps.timeouts();
  const { running } = deps.sessions.counts();
  // Sessions that wait for another task take no slot.
  const queued = deps.sessions.ready(deps.clock.now()).length;
  const choice =
    destination === null || agent === null
      ? null
      : deps.machines.openChoice(deps.sessions.countByRunner()).choose({
          ...{ ...destination, sessionId: null, agent, project, profile },
          mayMove: deps.sessions.mayMove({ cwd: null, continues: options.continues ?? null }),
        });
  const waitsFor = choice !== null && 'why' in choice ? choice.why : null;
  const hasRoom =
    destination === null ? running + queued + (race?.length ?? 1) <= deps.cap : waitsFor === null;
  const auth = agent === null ? null : chooseAuth(agents, agent, options);
  if (agent !== null && command !== null && auth === 'gateway')
    noteProblem(() => checkRoutable(command.template, agent));
  return {
    agent,
    command: command?.template ?? null,
    race,
    transport: command?.transport ?? null,
    auth,
    keyBeforeLogin:
      agent === null || command === null || auth !== 'account' ? null : agents.findKeyBeforeLogin(agent),
    profile,
    heldBack: circuit === null ? null : { until: circuit.reopenAt, code: circuit.code, text: circuit.text },
    project: task.project,
    inplace: false,
    continues: continued === null ? null : { sessionId: continued.sessionId, branch: continued.branch },
    ...there,
    timeoutSec: chooseTimeout(deps, task, options),
    idleTimeoutSec,
    workers: { running, queued, cap: deps.cap },
    pool: destination?.pool ?? null,
    runner: destination?.runner ?? null,
    waitsFor,
    waitsForTask: task.waitsFor,
    starts: hasRoom && circuit === null && task.waitsFor === null ? 'now' : 'queued',
    problem: problem ?? problemThere,
  };
}
