import { nameSessionState } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { ShownSession, ShownTask } from '../state/rows.ts';
import { getSelectedItem, getSelectedSession, getSelectedTask } from '../state/selection.ts';
import { cleanText } from '../text/text.ts';
import { callEngine, type ScreenQuestion } from './transition.ts';

/** How much of a title a question shows. */
const MOST_TITLE = 40;
const quoteTitle = ({ title }: { title: string }): string => {
  const text = cleanText(title);
  return text.length > MOST_TITLE ? `${text.slice(0, MOST_TITLE - 1)}…` : text;
};

/** Reports whether the selected run has ended and left a branch or a worktree. */
const hasWorkLeft = (state: State): boolean => ['live', 'ended'].includes(getSelectedItem(state)?.kind ?? '');

export const checkCanPutAway = (state: State): string | null =>
  hasWorkLeft(state) ? checkCanDiscard(state) : checkCanArchive(state);

/** Asks to discard the work of the selected run or, if nothing is left of it, to archive its task. */
export const askToPutAway = (state: State): ScreenQuestion =>
  hasWorkLeft(state) ? askToDiscard(state) : askToArchive(state);

function checkCanDiscard(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return 'no worker is selected';
  const id = session.session_id;
  if (session.state !== 'ended') return `${id} is still ${nameSessionState(session)}: x stops it`;
  if (session.branch === null) return `${id} has no branch`;
  if (session.branch_state === 'continued') return `a later run continued ${id}`;
  if (session.branch_state === 'discarded') return `${id} is discarded: U brings it back`;
  if (session.worktree !== null) return null;
  if (session.promoted_at !== null || session.branch_state === 'merged')
    return `${id} was merged, and its branch removed`;
  return session.branch_state === 'gone' ? `the branch of ${id} is gone` : null;
}

function askToDiscard(state: State): ScreenQuestion {
  const session = getSelectedSession(state)!;
  const { session_id: id, branch, commits } = session;
  const work =
    commits === null || commits === 0 ? '' : `, +${session.insertions ?? 0} -${session.deletions ?? 0}`;
  return {
    subject: { kind: 'session', id },
    text: `Discard ${branch} and its worktree (${quoteTitle(session)}${work})? All of it is saved; U brings it back.`,
    answers: [
      {
        key: 'y',
        label: 'discard',
        run: (now) =>
          callEngine(now, {
            operation: 'worktree.discard',
            input: { session: id },
            busy: id,
            doing: `discarding ${branch}`,
            describeAnswer: ({ has_files }) =>
              `${branch} is discarded${has_files ? ', its uncommitted files saved' : ''}; U brings it back`,
          }),
      },
    ],
  };
}

const isUndoable = ({ branch_state: branch, promoted_at: promoted }: ShownSession): boolean =>
  branch === 'discarded' || promoted !== null;

export const checkCanUndo = (state: State): string | null => {
  const session = getSelectedSession(state);
  if (session !== undefined && isUndoable(session)) return null;
  return checkCanUnarchive(state);
};

/** Asks to undo the last action on the selected run: its discard, or its promotion; otherwise the last archived task. */
export function askToUndo(state: State): ScreenQuestion {
  const session = getSelectedSession(state);
  if (session === undefined || !isUndoable(session)) return askToUnarchive(state);
  return session.branch_state === 'discarded' ? askToRestore(session) : askToUndoPromotion(session);
}

const askToRestore = (session: ShownSession): ScreenQuestion => {
  const { session_id: id, branch } = session;
  return {
    subject: { kind: 'session', id },
    text: `Bring ${branch} back, with its worktree (${quoteTitle(session)})?`,
    answers: [
      {
        key: 'y',
        label: 'restore',
        run: (now) =>
          callEngine(now, {
            operation: 'worktree.restore',
            input: { session: id, worktree: true },
            busy: id,
            doing: `restoring ${branch}`,
            describeAnswer: ({ worktree }) =>
              `${branch} is back${worktree === null ? '' : ', with its worktree'}`,
          }),
      },
    ],
  };
};

const askToUndoPromotion = (session: ShownSession): ScreenQuestion => {
  const { session_id: id, branch, base } = session;
  return {
    subject: { kind: 'session', id },
    text: `Undo the promotion of ${branch} into ${base ?? 'its base'} (${quoteTitle(session)})? It becomes unmerged; other changes stay.`,
    answers: [
      {
        key: 'y',
        label: 'undo the promotion',
        run: (now) =>
          callEngine(now, {
            operation: 'worktree.undo',
            input: { session: id },
            busy: id,
            doing: `undoing the promotion of ${branch}`,
            describeAnswer: ({ base: from, after }) =>
              `${from} is at ${after.slice(0, 10)} again; ${branch} waits for review`,
          }),
      },
    ],
  };
};

function checkCanArchive(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined)
    return getSelectedSession(state) === undefined ? 'no task is selected' : checkCanDiscard(state);
  if (task.waits) return `${task.task_id} waits for a decision`;
  if (task.race !== null) return `no session of the race of ${task.task_id} has been promoted yet`;
  return task.status === 'running' || (task.status === 'assigned' && task.session_id !== null)
    ? `${task.task_id} is being worked on`
    : null;
}

function askToArchive(state: State): ScreenQuestion {
  const task = getSelectedTask(state)!;
  const { task_id: id } = task;
  return {
    subject: { kind: 'task', id },
    text: `Archive ${id} (${quoteTitle(task)})? Lists will leave it out; U brings it back.`,
    answers: [
      {
        key: 'y',
        label: 'archive',
        run: (now) =>
          callEngine(now, {
            operation: 'task.archive',
            input: { ids: [id] },
            busy: id,
            doing: `archiving ${id}`,
            describeAnswer: ({ refused }) =>
              refused[0] === undefined
                ? `${id} is archived; U brings it back`
                : `${id} is not archived: ${refused[0].reason}`,
            findRefusal: ({ refused }) => refused[0]?.reason ?? null,
          }),
      },
    ],
  };
}

/** Returns the last archived task that this screen has seen. */
function findLastArchived({ data }: State): ShownTask | undefined {
  let last: ShownTask | undefined;
  for (const task of data.tasks.values())
    if (task.archived_at !== null && task.archived_at > (last?.archived_at ?? '')) last = task;
  return last;
}

const checkCanUnarchive = (state: State): string | null =>
  findLastArchived(state) === undefined
    ? `nothing to undo: ${describeSelection(state)}no task has been archived since this screen was opened`
    : null;

function describeSelection(state: State): string {
  const session = getSelectedSession(state);
  return session === undefined ? '' : `${session.session_id} was neither discarded nor promoted, and `;
}

function askToUnarchive(state: State): ScreenQuestion {
  const task = findLastArchived(state)!;
  const { task_id: id } = task;
  return {
    subject: { kind: 'task', id },
    text: `Bring back ${id} (${quoteTitle(task)}), the last archived task?`,
    answers: [
      {
        key: 'y',
        label: 'bring back',
        run: (now) =>
          callEngine(now, {
            operation: 'task.unarchive',
            input: { ids: [id] },
            busy: id,
            doing: `bringing ${id} back`,
            describeAnswer: () => `${id} is listed again`,
          }),
      },
    ],
  };
}
