import type { Tasks } from '../board/tasks/index.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import type { EventKind } from '../storage/index.ts';
import type { DispatchDeps } from './context.ts';

/** After these more, fewer or other tasks may wait, or the base of the next worktree may have moved. */
const CHANGES_NEXT: ReadonlySet<EventKind> = new Set<EventKind>([
  'task_created',
  'task_assigned',
  'task_changed',
  'task_retried',
  'task_done',
  'task_archived',
  'needs_approval',
  'approved',
  'denied',
  'dispatched',
  'session_started',
  'sealed',
  'failed',
  'worktree_promoted',
]);

/** How long nothing may have happened before the files are written. */
const QUIET_MS = 1000;
/** How often to look whether a person has committed to the base. */
const LOOK_AGAIN_MS = 30_000;
/** The number of newest waiting tasks whose projects are looked at. */
const MOST_TASKS = 20;

/** Writes the files of the next worktree ahead for each project in which a task waits for a person. */
export interface AheadPreparation {
  /** Looks at what waits, once nothing has happened for a while. */
  lookSoon(): void;
  close(): void;
}

export function createAheadPreparation(
  deps: Pick<
    DispatchDeps,
    'storage' | 'events' | 'tasks' | 'sessions' | 'projects' | 'runner' | 'clock' | 'log' | 'requireConsent'
  >,
): AheadPreparation {
  const { storage, events, clock, log } = deps;
  const timer = createDueTimer({ clock, onDue: () => void look() });
  const lookSoon = (): void => timer.sleepUntil(clock.now() + QUIET_MS);
  let isLooking = false;

  async function look(): Promise<void> {
    // A start needs the machine now, and its event leads here again.
    if (isLooking || deps.sessions.listLive().some(({ state }) => state === 'starting')) return lookSoon();
    isLooking = true;
    try {
      const projects = listWaitingProjects(deps);
      await deps.runner.prepareAhead(projects);
      if (projects.length > 0) timer.sleepUntil(clock.now() + LOOK_AGAIN_MS);
    } catch (error) {
      log.warn({ error }, 'the next worktrees were not prepared');
    } finally {
      isLooking = false;
    }
  }

  events.onAppend(({ kind }) => {
    if (CHANGES_NEXT.has(kind)) storage.afterCommit(lookSoon);
  });
  return { lookSoon, close: timer.close };
}

/** Lists the projects of tasks that a person may start next, and that they have agreed to. */
function listWaitingProjects({
  tasks,
  projects,
  requireConsent,
}: Pick<DispatchDeps, 'projects' | 'requireConsent'> & { tasks: Pick<Tasks, 'list'> }): (string | null)[] {
  const waiting = (['open', 'assigned'] as const)
    .flatMap((status) => tasks.list({ status, limit: MOST_TASKS }))
    .filter(({ sessionId, race }) => sessionId === null && race === null);
  const named = new Set(waiting.map(({ project }) => project));
  return [...named].filter((project) => {
    try {
      requireConsent();
      projects.checkConsent({ project, inplace: false, worktree: null, continues: null });
      return true;
    } catch {
      return false;
    }
  });
}
