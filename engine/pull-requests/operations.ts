import { z } from 'zod';
import type { Task } from '../board/tasks/index.ts';
import { operation } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { EventLog } from '../storage/index.ts';
import type { Worktrees } from '../workers/runner/worktrees/index.ts';
import type { PullRequestOrders } from './orders.ts';
import {
  checkSettings,
  conflictError,
  isQuiet,
  listSettings,
  type PreparationDeps,
  preparePullRequest,
} from './prepare.ts';
import { PULL_REQUEST_PROGRAMS } from './programs.ts';
import { appendPullRequest, type PullRequest } from './records.ts';
import { findIssuePage, findPullRequestPage } from './web-page.ts';

const told = {
  number: z.int().min(1).nullable(),
  url: z.string().max(2000).nullable(),
  state: z.enum(['open', 'merged', 'closed']).nullable(),
};

interface PullRequestDeps extends PreparationDeps {
  events: Pick<EventLog, 'append'>;
  worktrees: PreparationDeps['worktrees'] &
    Pick<Worktrees, 'compareSettings' | 'acceptSettings' | 'findRepository'>;
  /** Absolute; null and its name for the workspace's own project. Throws `unknown_project`. */
  resolveFolder(project: string | null): string;
  findTask(id: string): Pick<Task, 'taskId' | 'sessionId' | 'source' | 'sourceRef' | 'sourceUrl' | 'project'>;
  orders: Pick<PullRequestOrders, 'drop'>;
}

/** Creates the operations on pull requests. */
export const pullRequestOperations = (deps: PullRequestDeps) => [
  showPullRequest(deps),
  recordPullRequest(deps),
  compareGitSettings(deps),
  listProjectRemotes(deps),
  findTaskPage(deps),
];

/** Creates the operation that returns the content of a pull request. */
const showPullRequest = (deps: PullRequestDeps) =>
  operation({
    name: 'worktree.pr',
    about: 'The content of a pull request for a session’s branch, and where it could go; pushes nothing.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({ session: z.string() }),
    run: (input) => preparePullRequest(deps, deps.sessions.resolve(input.session).sessionId),
  });

/** Creates the operation that finds the page of a task's pull request, or of the issue that it came from. */
const findTaskPage = ({
  sessions,
  worktrees,
  records,
  findTask,
  resolveFolder,
  describeRemote,
}: PullRequestDeps) =>
  operation({
    name: 'task.page',
    about:
      'The web page of a task’s pull request, or of the issue or comment that it came from, by the remotes of its repository. Calls no host.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({ id: z.string() }),
    async run({ id }) {
      const { taskId, sessionId, source, sourceRef, sourceUrl, project } = findTask(id);
      const { root } = await worktrees.findRepository(resolveFolder(project));
      const untrusted = await worktrees.listUntrustedSettings(root, { isQuiet: isQuiet(sessions) });
      const address = untrusted.find((name) => /^(?:remote|url)\./i.test(name));
      if (address !== undefined)
        throw new SvcError(
          'worktree_unsafe',
          `${address} was changed during a run, so the page is not known`,
        );
      const remotes = await Promise.all((await worktrees.listRemotes(root)).map(describeRemote));
      const pullRequest = sessionId === null ? null : records.find(sessionId);
      if (pullRequest !== null) return { taskId, url: findPullRequestPage(pullRequest, remotes) };
      if (source !== 'codehost' || sourceRef === null)
        throw new SvcError('not_found', `${taskId} has no pull request, and came from no issue`);
      return { taskId, url: sourceUrl ?? findIssuePage(sourceRef, remotes) };
    },
  });

/** Creates the operation that returns where a person's git fetches pull requests of a project from. */
const listProjectRemotes = ({ sessions, worktrees, resolveFolder }: PullRequestDeps) =>
  operation({
    name: 'project.remotes',
    about: 'The repository of a project and its remotes, for a person’s own git; fetches nothing.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({ project: z.string().optional() }),
    async run({ project = null }) {
      const { root: repository } = await worktrees.findRepository(resolveFolder(project));
      const last = sessions.list({ limit: 100 }).find((each) => each.repository === repository);
      await checkSettings(
        { sessions, worktrees },
        repository,
        last === undefined
          ? 'remove the changes while no worker runs'
          : sentence`{worktree.settings ${last.sessionId}} shows the changes; with --accept they are yours`,
      );
      const remotes = await worktrees.listRemotes(repository);
      return { repository, remotes, settings: await listSettings(worktrees, repository) };
    },
  });

/** Creates the operation that shows the settings of git that were changed during a run, and accepts them. */
const compareGitSettings = ({ sessions, worktrees }: PullRequestDeps) =>
  operation({
    name: 'worktree.settings',
    about: 'The settings of git that were changed during a run. With `accept` they become the person’s.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ session: z.string(), accept: z.boolean().optional() }),
    async run({ session, accept = false }) {
      const { sessionId, repository } = sessions.resolve(session);
      if (repository === null) return { sessionId, changes: [], accepted: false };
      if (accept && !isQuiet(sessions))
        throw conflictError(
          'a worker is running, and could change the settings again',
          sentence`accept them once it has ended: {session.list}`,
        );
      await worktrees.listUntrustedSettings(repository, { isQuiet: isQuiet(sessions) });
      const changes = await worktrees.compareSettings(repository);
      if (accept && changes.length > 0) await worktrees.acceptSettings(repository);
      return { sessionId, changes, accepted: accept && changes.length > 0 };
    },
  });

/** Creates the operation that records a created pull request. */
const recordPullRequest = ({ events, sessions, records, orders }: PullRequestDeps) =>
  operation({
    name: 'worktree.record_pr',
    about: 'Record the pull request that was opened for a session, or its current state at its host.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      session: z.string(),
      /** For a new one; left out for a state query. */
      opened: z
        .strictObject({
          program: z.enum(PULL_REQUEST_PROGRAMS),
          remote: z.string().min(1).max(255),
          branch: z.string().min(1).max(255),
          head: z.string().regex(/^[0-9a-f]{40,64}$/),
        })
        .optional(),
      ...told,
    }),
    run: ({ session: prefix, opened, ...known }, { actor, via }, call) =>
      call.finish((): PullRequest => {
        const { sessionId, taskId, title } = sessions.resolve(prefix);
        if (opened !== undefined) {
          records.add(sessionId, { ...opened, ...known }, actor);
          orders.drop(sessionId);
        } else if (records.find(sessionId) === null)
          throw new SvcError('not_found', `${sessionId} has no pull request`, {
            hint: sentence`{worktree.pr ${sessionId}} opens one`,
          });
        else records.setState(sessionId, known);
        const found = records.find(sessionId) as PullRequest;
        appendPullRequest(events, { sessionId, taskId, title }, found, opened !== undefined, { actor, via });
        return found;
      }),
  });
