import { createDecisions } from '../../../engine/board/decisions/index.ts';
import type { RunSettings } from '../../../engine/board/decisions/inputs.ts';
import { createRaces } from '../../../engine/board/races/index.ts';
import { createTasks, type Task } from '../../../engine/board/tasks/index.ts';
import { createWorkflow, type DispatchPort } from '../../../engine/board/workflow/index.ts';
import type { Clock } from '../../../engine/core/base/clock.ts';
import { createEventLog, openStorage } from '../../../engine/storage/index.ts';
import { createSessions, EMPTY_BOOKS } from '../../../engine/workers/sessions/index.ts';

/** The configuration of a run, which never changes. */
export const fakeSettings = (task: Pick<Task, 'agent' | 'project'>): RunSettings => ({
  agent: task.agent,
  command: 'scripted {{prompt}}',
  long: null,
  transport: 'subprocess',
  auth: 'account',
  route: null,
  permissions: null,
  profile: 'lite',
  project: task.project,
  folder: '/',
  inplace: false,
  base: 'main',
  setup: null,
  continues: null,
});

/** Storage, board and sessions as the engine composes them; workers are queued and never started. */
export function openSpine(path: string, clock: Clock) {
  const storage = openStorage({ path });
  const events = createEventLog({ storage, clock });
  const tasks = createTasks({ storage, events, clock });
  const decisions = createDecisions({ storage, events, clock });
  const sessions = createSessions({ storage, clock, books: EMPTY_BOOKS });
  const dispatch: DispatchPort = {
    settings: fakeSettings,
    enqueue(task, decision, _options, race) {
      const session = sessions.create({
        taskId: task.taskId,
        decisionId: decision.decisionId,
        title: task.title,
        agent: task.agent ?? 'scripted',
        project: task.project,
        inplace: false,
        keepWorktree: false,
        base: null,
        name: null,
        timeoutSec: task.timeoutSec ?? 600,
        idleTimeoutSec: 0,
        priority: 0,
        gatewayBypass: false,
        continues: null,
        tokenBudget: null,
        parent: null,
        race,
        pool: null,
        runner: null,
      });
      events.append({
        kind: 'dispatched',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        sessionId: session.sessionId,
        data: { title: task.title, agent: task.agent },
      });
      return session;
    },
    stop: () => undefined,
    drop: () => true,
    checkCommand: () => undefined,
    findLock: () => null,
    recordOwnWord: () => false,
    isLive: () => false,
  };
  const races = createRaces({ storage, events, clock, tasks, sessions });
  const workflow = createWorkflow({ storage, tasks, decisions, dispatch, races, record: events.append });
  return { storage, events, tasks, decisions, sessions, races, workflow };
}

export type Spine = ReturnType<typeof openSpine>;
