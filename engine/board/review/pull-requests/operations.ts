import { z } from 'zod';
import { operation } from '../../../core/api/operation.ts';
import { SvcError } from '../../../core/base/errors.ts';
import { type SentenceWords, sentence } from '../../../core/base/sentence.ts';
import { toPrintable } from '../../../core/base/text.ts';
import type { EventLog } from '../../../storage/index.ts';
import type { GitRemote, Worktrees } from '../../../workers/runner/worktrees/index.ts';
import type { Session, Sessions } from '../../../workers/sessions/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { Verification } from '../../verify/index.ts';
import { PULL_REQUEST_PROGRAMS, type PullRequestWish } from './programs.ts';
import type { PullRequest, PullRequestRecords } from './records.ts';
import { findIssuePage, findPullRequestPage } from './web-page.ts';
import { writePullRequestBody } from './write-body.ts';

/** Operations for a person's own pull request program. The engine itself pushes nothing and calls no host. */
export interface PullRequestMaterial extends PullRequestWish {
  sessionId: string;
  taskId: string;
  /** The folder where the programs run: the top of the checkout. */
  repository: string;
  remotes: GitRemote[];
  /** Git settings for the programs, name and value: the person's, regardless of a worker's changes. */
  settings: [name: string, value: string][];
  /** The existing one; null for none. */
  pullRequest: PullRequest | null;
}

const told = {
  number: z.int().min(1).nullable(),
  url: z.string().max(2000).nullable(),
  state: z.enum(['open', 'merged', 'closed']).nullable(),
};

interface PullRequestDeps {
  events: Pick<EventLog, 'append'>;
  sessions: Sessions;
  worktrees: Pick<
    Worktrees,
    | 'listRemotes'
    | 'findRepository'
    | 'findHead'
    | 'listUntrustedSettings'
    | 'listTrustedSettings'
    | 'compareSettings'
    | 'acceptSettings'
    | 'usesLfs'
    | 'findRepository'
  >;
  /** Absolute; null and its name for the workspace's own project. Throws `unknown_project`. */
  resolveFolder(project: string | null): string;
  records: PullRequestRecords;
  readEvidence(sessionId: string): Promise<Verification>;
  findTask(id: string): Pick<Task, 'taskId' | 'sessionId' | 'source' | 'sourceRef' | 'sourceUrl' | 'project'>;
}

/** Creates the operations on pull requests. */
export const pullRequestOperations = (deps: PullRequestDeps) => [
  preparePullRequest(deps),
  recordPullRequest(deps),
  compareGitSettings(deps),
  listProjectRemotes(deps),
  findTaskPage(deps),
];

/** Creates the operation that returns the content of a pull request. */
const preparePullRequest = ({ sessions, worktrees, records, readEvidence }: PullRequestDeps) =>
  operation({
    name: 'worktree.pr',
    about:
      'The content of a pull request for a session’s branch, and where it could go; pushes nothing. The client runs the programs.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({ session: z.string() }),
    async run(input): Promise<PullRequestMaterial> {
      const session = requirePublishable(sessions, input.session);
      const { sessionId, taskId, branch, repository, base, title } = session;
      const pullRequest = records.find(sessionId);
      const head = await worktrees.findHead(repository, branch);
      if (head === null && pullRequest === null)
        throw conflict(`the branch of ${sessionId} is gone`, sentence`{worktree.restore ${sessionId}}`);
      if (base === null)
        throw new SvcError(
          'conflict',
          `${sessionId} was made from a commit, so there is no branch to merge a pull request into`,
        );
      if (head === session.baseCommit) throw new SvcError('conflict', `${sessionId} has no commits`);
      await checkSettings(
        { sessions, worktrees },
        repository,
        sentence`{worktree.settings ${sessionId}} shows the changes; with --accept they are yours, otherwise remove them while no worker runs`,
      );
      return {
        sessionId,
        taskId,
        repository,
        branch,
        base,
        head: head ?? pullRequest?.head ?? '',
        usesLfs: head !== null && (await worktrees.usesLfs(repository, head)),
        title: `${toPrintable(title)} (${taskId})`,
        body: writePullRequestBody(session, await readEvidence(sessionId)),
        remotes: await worktrees.listRemotes(repository),
        settings: await listSettings(worktrees, repository),
        pullRequest,
      };
    },
  });

/** Creates the operation that finds the page of a task's pull request, or of the issue that it came from. */
const findTaskPage = ({ sessions, worktrees, records, findTask, resolveFolder }: PullRequestDeps) =>
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
      const remotes = await worktrees.listRemotes(root);
      const pullRequest = sessionId === null ? null : records.find(sessionId);
      if (pullRequest !== null) return { taskId, url: findPullRequestPage(pullRequest, remotes) };
      if (source !== 'codehost' || sourceRef === null)
        throw new SvcError('not_found', `${taskId} has no pull request, and came from no issue`);
      return { taskId, url: sourceUrl ?? findIssuePage(sourceRef, remotes) };
    },
  });

const isQuiet = (sessions: Pick<Sessions, 'listLive'>): boolean =>
  sessions.listLive().every(({ state }) => state === 'queued');

/** Checks that no worker has changed what git runs, or where it goes. Throws `worktree_unsafe`. */
async function checkSettings(
  { sessions, worktrees }: Pick<PullRequestDeps, 'sessions' | 'worktrees'>,
  repository: string,
  hint: SentenceWords,
): Promise<void> {
  const untrusted = await worktrees.listUntrustedSettings(repository, { isQuiet: isQuiet(sessions) });
  if (untrusted.length === 0) return;
  throw new SvcError(
    'worktree_unsafe',
    `settings of git that decide what a push runs, or where it goes, were changed during a run: ${untrusted.join(', ')}`,
    { hint },
  );
}

const listSettings = async (
  worktrees: PullRequestDeps['worktrees'],
  repository: string,
): Promise<PullRequestMaterial['settings']> =>
  (await worktrees.listTrustedSettings(repository)).map(([name, value]) => [name, value]);

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
        throw conflict(
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
const recordPullRequest = ({ events, sessions, records }: PullRequestDeps) =>
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
          head: z.string().regex(/^[0-9a-f]{40,64}$/),
        })
        .optional(),
      ...told,
    }),
    run: ({ session: prefix, opened, ...known }, { actor, via }, call) =>
      call.finish((): PullRequest => {
        const { sessionId, taskId, title } = sessions.resolve(prefix);
        if (opened !== undefined) records.add(sessionId, { ...opened, ...known }, actor);
        else if (records.find(sessionId) === null)
          throw new SvcError('not_found', `${sessionId} has no pull request`, {
            hint: sentence`{worktree.pr ${sessionId}} opens one`,
          });
        else records.setState(sessionId, known);
        const { number, state, url } = records.find(sessionId) as PullRequest;
        const detail = `${number === null ? 'pull request' : `#${number}`} ${state ?? ''}`.trimEnd();
        const data = { title, number, state, url, detail, opened: opened !== undefined };
        events.append({ kind: 'pull_request', taskId, sessionId, actor, via, data });
        return records.find(sessionId) as PullRequest;
      }),
  });

const conflict = (text: string, hint: ReturnType<typeof sentence>): SvcError =>
  new SvcError('conflict', text, { hint });

/** Finds an ended session with its own reviewable branch. */
function requirePublishable(
  sessions: Sessions,
  prefix: string,
): Session & { branch: string; repository: string } {
  const session = sessions.resolve(prefix);
  const { sessionId: id, state, branch, repository, branchState } = session;
  if (state !== 'ended')
    throw conflict(`${id} is still ${state}`, sentence`{session.log ${id} follow=true} shows its output`);
  if (branch === null || repository === null)
    throw new SvcError('conflict', `${id} has no separate branch: it worked in the folder itself`);
  if (branchState === 'discarded')
    throw conflict(`${id} was discarded`, sentence`{worktree.restore ${id}} restores its branch`);
  if (branchState === 'continued')
    throw conflict(
      `a later run has continued ${id}, on its branch`,
      sentence`{worktree.pr ${sessions.byBranch(branch)?.sessionId ?? id}} covers the work of both`,
    );
  return { ...session, branch, repository };
}
