import type { Task } from '../board/tasks/index.ts';
import type { Verification } from '../board/verify/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { type SentenceWords, sentence } from '../core/base/sentence.ts';
import { toPrintable } from '../core/base/text.ts';
import type { GitRemote, Worktrees } from '../workers/runner/worktrees/index.ts';
import type { Session, Sessions } from '../workers/sessions/index.ts';
import type { PullRequestPolicy } from './config.ts';
import { nameBranch } from './name-branch.ts';
import type { PublishRemote, PullRequestWish } from './programs.ts';
import type { PullRequest, PullRequestRecords } from './records.ts';
import { writePullRequestBody } from './write-body.ts';

/** The content of a pull request, and where it could go. */
export interface PullRequestMaterial extends PullRequestWish {
  sessionId: string;
  taskId: string;
  /** The folder where the programs run: the top of the checkout. */
  repository: string;
  remotes: PublishRemote[];
  /** Git settings for the programs, name and value: the person's, regardless of a worker's changes. */
  settings: [name: string, value: string][];
  /** The existing one, of this session or an earlier one on the branch; null for none. */
  pullRequest: PullRequest | null;
}

export interface PreparationDeps {
  sessions: Sessions;
  worktrees: Pick<
    Worktrees,
    'listRemotes' | 'findHead' | 'listUntrustedSettings' | 'listTrustedSettings' | 'usesLfs'
  >;
  records: PullRequestRecords;
  readEvidence(sessionId: string): Promise<Verification>;
  getTask(id: string): Task;
  /** Finds out which code host a remote is at. */
  describeRemote(remote: GitRemote): Promise<PublishRemote>;
  readPolicy(task: Pick<Task, 'template' | 'project'>): PullRequestPolicy;
}

/** Finds the first session on a branch: its task is what the pull request does, and later ones continue it. */
export function findFirstSession(sessions: Pick<Sessions, 'get'>, session: Session): Session {
  let first = session;
  while (first.continues !== null) first = sessions.get(first.continues);
  return first;
}

/** Collects the content of a pull request. Throws `conflict`, `worktree_unsafe`. */
export async function preparePullRequest(
  { sessions, worktrees, records, readEvidence, getTask, describeRemote, readPolicy }: PreparationDeps,
  id: string,
): Promise<PullRequestMaterial> {
  const session = requirePublishable(sessions, id);
  const { sessionId, taskId, branch, repository, base } = session;
  const pullRequest = records.find(sessionId) ?? records.findOfBranch(repository, branch);
  const head = await worktrees.findHead(repository, branch);
  if (head === null && pullRequest === null)
    throw conflictError(`the branch of ${sessionId} is gone`, sentence`{worktree.restore ${sessionId}}`);
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
  const first = findFirstSession(sessions, session);
  const task = getTask(first.taskId);
  const policy = readPolicy(task);
  return {
    sessionId,
    taskId,
    repository,
    branch,
    pushTo: pullRequest?.branch ?? (policy.branch === null ? branch : nameBranch(policy.branch, task, first)),
    base,
    head: head ?? pullRequest?.head ?? '',
    usesLfs: head !== null && (await worktrees.usesLfs(repository, head)),
    title: `${toPrintable(task.title)} (${task.taskId})`,
    body: writePullRequestBody(session, await readEvidence(sessionId), task),
    isDraft: policy.opening === 'draft',
    remotes: await Promise.all((await worktrees.listRemotes(repository)).map(describeRemote)),
    settings: await listSettings(worktrees, repository),
    pullRequest,
  };
}

export const isQuiet = (sessions: Pick<Sessions, 'listLive'>): boolean =>
  sessions.listLive().every(({ state }) => state === 'queued');

/** Checks that no worker has changed what git runs, or where it goes. Throws `worktree_unsafe`. */
export async function checkSettings(
  { sessions, worktrees }: Pick<PreparationDeps, 'sessions' | 'worktrees'>,
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

export const listSettings = async (
  worktrees: Pick<PreparationDeps['worktrees'], 'listTrustedSettings'>,
  repository: string,
): Promise<PullRequestMaterial['settings']> =>
  (await worktrees.listTrustedSettings(repository)).map(([name, value]) => [name, value]);

export const conflictError = (text: string, hint: ReturnType<typeof sentence>): SvcError =>
  new SvcError('conflict', text, { hint });

/** Finds an ended session with its own reviewable branch. */
function requirePublishable(
  sessions: Sessions,
  prefix: string,
): Session & { branch: string; repository: string } {
  const session = sessions.resolve(prefix);
  const { sessionId: id, state, branch, repository, branchState } = session;
  if (state !== 'ended')
    throw conflictError(
      `${id} is still ${state}`,
      sentence`{session.log ${id} follow=true} shows its output`,
    );
  if (branch === null || repository === null)
    throw new SvcError('conflict', `${id} has no separate branch: it worked in the folder itself`);
  if (branchState === 'discarded')
    throw conflictError(`${id} was discarded`, sentence`{worktree.restore ${id}} restores its branch`);
  if (branchState === 'continued')
    throw conflictError(
      `a later run has continued ${id}, on its branch`,
      sentence`{worktree.pr ${sessions.byBranch(branch)?.sessionId ?? id}} covers the work of both`,
    );
  return { ...session, branch, repository };
}
