import type { Decision } from '../board/decisions/index.ts';
import type { DispatchOptions } from '../board/index.ts';
import type { Task } from '../board/tasks/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { findDestination } from './destination.ts';
import { chooseAgent, chooseTimeout } from './plan.ts';

/** Inside `storage.write`: creates a queued session that consumes `decision`. Throws if agent or project is unknown. */
export function enqueueSession(
  deps: DispatchDeps,
  task: Task,
  decision: Decision,
  options: DispatchOptions,
  race: number | null,
): Session {
  const { sessions, events } = deps;
  const agents = deps.agents.withOverrides(options.agents);
  const agent = chooseAgent(agents, task);
  agents.findCommand(agent);
  agents.resolveFolder(task.project);
  const live = sessions
    .ofTask(task.taskId)
    .find((each) => each.state !== 'ended' && (race === null || each.race !== race));
  if (live !== undefined)
    throw new SvcError('conflict', `${task.taskId} has a session that has not ended yet: ${live.sessionId}`, {
      hint: sentence`{session.log ${live.sessionId} follow=true} shows its output`,
    });
  const project = agents.resolveProjectId(task.project);
  const destination = findDestination(deps, project, options);
  const { idleTimeoutSec } = deps.timeouts();
  const session = sessions.create({
    taskId: task.taskId,
    decisionId: decision.decisionId,
    title: task.title,
    agent,
    project,
    inplace: options.inplace ?? false,
    keepWorktree: options.keepWorktree ?? false,
    base: options.base ?? null,
    name: options.name ?? null,
    timeoutSec: chooseTimeout(deps, task, options),
    idleTimeoutSec,
    priority: task.priority,
    continues: options.continues ?? null,
    gatewayBypass: options.gatewayBypass ?? false,
    tokenBudget: options.tokenBudget ?? null,
    parent: options.parent ?? null,
    race,
    pool: destination?.pool ?? null,
    runner: destination?.runner ?? null,
  });
  events.append({
    kind: 'dispatched',
    taskId: task.taskId,
    decisionId: decision.decisionId,
    sessionId: session.sessionId,
    actor: decision.decidedBy,
    via: decision.decidedVia,
    data: {
      title: task.title,
      agent,
      project: task.project,
      ...(options.force ? { ledgerForced: true, detail: 'skipped the ledger gate by force' } : {}),
    },
  });
  return session;
}
