import type { Board } from '../../board/index.ts';
import type { WorktreeActions } from '../../board/review/worktree-actions.ts';
import type { NewTask } from '../../board/tasks/index.ts';
import type { CallAuthor } from '../../core/api/operation.ts';
import { formatCount } from '../../core/base/text.ts';
import { findProjectEntry } from '../../core/workspace/project-entry.ts';
import type { Dispatcher } from '../../dispatch/index.ts';
import type { SessionActions } from '../../dispatch/session-actions.ts';
import type { SubmittedReview } from '../../forge/index.ts';
import { crushAndStore } from '../../knowledge/context/crush-and-store.ts';
import type { StoredTexts } from '../../knowledge/context/index.ts';
import {
  combinePolicies,
  createAutomaticPullRequests,
  createForgeComments,
  createPullRequestOrders,
  createPullRequestRounds,
  createPullRequestWatch,
  describeRemote,
  type PullRequestPolicy,
  type PullRequestRecords,
} from '../../pull-requests/index.ts';
import { formatCodehostActor, TRUSTED_ASSOCIATIONS } from '../../receiver/index.ts';
import type { GitRemote } from '../../workers/runner/worktrees/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import { buildPersonEnvironment, createForgeOpener } from './person-environment.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** The part of a log that a prompt contains, in characters. */
const MOST_LOG = 24_000;

const SVC: CallAuthor = { actor: 'svc', via: 'engine' };

/** Shortens a log, and keeps all of it where a worker finds it. */
async function crushLog(
  { storage }: Pick<SharedDependencies, 'storage'>,
  texts: StoredTexts,
  whole: string,
): Promise<string> {
  const { crushed } = await crushAndStore(texts, whole, {
    caller: { seat: 'chair', sessionId: null, actor: 'svc' },
    write: storage.write,
    counted: () => undefined,
  });
  const { text } = crushed;
  if (text.length <= MOST_LOG) return text;
  const end = text.slice(-MOST_LOG).toWellFormed();
  return `(${formatCount(text.length - end.length, 'character')} before this are left out)\n${end}`;
}

/** Describes who is behind a follow-up: the reviewers, otherwise the author of the work whose checks have failed. */
function describeOrigin(
  { tasks }: Board<Dispatcher>,
  former: string,
  reviewers: readonly SubmittedReview[],
): Pick<NewTask, 'authorRole' | 'origin'> {
  const [first] = reviewers;
  if (first !== undefined)
    return {
      authorRole: first.association.toLowerCase(),
      origin: {
        author: formatCodehostActor(first.author),
        isVouched: reviewers.every(({ association }) => TRUSTED_ASSOCIATIONS.includes(association)),
      },
    };
  const { source, authorRole } = tasks.get(former);
  const { author, isVouched } = tasks.readOrigin(former);
  return { authorRole, origin: { author, isVouched: isVouched || source !== 'codehost' } };
}

/** Builds `engine/pull-requests`. */
export function createPullRequestModule(
  shared: SharedDependencies,
  { sessions, worktrees }: WorkerModules,
  others: {
    board: Board<Dispatcher>;
    records: PullRequestRecords;
    texts: StoredTexts;
    actions: Pick<SessionActions, 'followUp'>;
    worktreeActions: Pick<WorktreeActions, 'discard'>;
  },
) {
  const { storage, events, clock, log, root, config, closing } = shared;
  const { board, records } = others;
  const preparation = {
    sessions,
    worktrees,
    records,
    readEvidence: board.evidence,
    getTask: board.tasks.get,
    describeRemote: (remote: GitRemote) =>
      describeRemote(remote, { sources: config().sources, env: buildPersonEnvironment(shared) }),
    readPolicy: ({
      template,
      project,
    }: {
      template: string | null;
      project: string | null;
    }): PullRequestPolicy =>
      combinePolicies(
        template === null ? undefined : config().webhook.templates[template],
        findProjectEntry(root, config(), project),
      ),
  };
  const orders = createPullRequestOrders(storage, clock);
  const openForge = createForgeOpener(shared);
  const rounds = createPullRequestRounds(storage, clock);
  const comments = createForgeComments({
    ...{ ...preparation, storage, events, clock, log, orders, rounds, openForge },
    dataId: shared.dataId,
  });
  const automatic = createAutomaticPullRequests({
    ...{ ...preparation, storage, events, clock, log, orders, comments, openForge },
    env: () => buildPersonEnvironment(shared),
  });
  closing(automatic.close);
  const isWaiting = (taskId: string): boolean => board.decisions.openOf(taskId)?.state === 'pending';
  const watch = createPullRequestWatch({
    ...{ ...preparation, storage, events, clock, log, openForge, rounds, comments },
    crushLog: (text) => crushLog(shared, others.texts, text),
    followUp(sessionId, { held, reviewers, ...wanted }) {
      const from = describeOrigin(board, sessions.get(sessionId).taskId, reviewers);
      const task = {
        ...wanted,
        ...from,
        comments: [],
        source: 'codehost' as const,
        ...(held === null ? {} : { held }),
      };
      return others.actions.followUp(sessionId, task, {}, SVC).task.taskId;
    },
    isWaiting,
    mayReview: ({ association, author }) =>
      TRUSTED_ASSOCIATIONS.includes(association) ||
      config().policy.actors.includes(formatCodehostActor(author)),
    withdraw(taskId, why) {
      if (isWaiting(taskId)) board.workflow.cancel(taskId, SVC, why);
    },
    mayRunAlone({ stranger, source }) {
      const isFromOutside = source === 'codehost' || source === 'task' || source === 'chat';
      return stranger === null && !(isFromOutside && config().webhook.require_approval);
    },
    discard: (session) => others.worktreeActions.discard({ session }, SVC),
  });
  closing(watch.close);
  function sessionEnded(session: Session, commits: number | null): void {
    automatic.sessionEnded(session, commits);
    comments.sessionEnded(session);
  }
  return { preparation, orders, automatic: { ...automatic, sessionEnded }, watch };
}
