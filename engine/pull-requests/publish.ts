import type { WireValue } from '../core/api/operation.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { GitRemote } from '../workers/runner/worktrees/index.ts';
import type { PullRequestMaterial } from './prepare.ts';
import {
  buildCreate,
  buildLfsPush,
  buildPush,
  buildView,
  type PublishRemote,
  type PullRequestProgram,
  type PullRequestWish,
  type RemoteAddress,
  readCreated,
  readState,
  type ToldPullRequest,
} from './programs.ts';
import type { PullRequest } from './records.ts';

/** Runs a program of the person in the repository, and returns its output. Throws `program_failed`, `tool_missing`. */
export type RunPersonProgram = (program: string, args: readonly string[]) => Promise<string>;

/** A pushed branch with its pull request. */
export interface PublishedBranch extends ToldPullRequest {
  /** The name of the branch at the code host. */
  branch: string;
  /** False if its pull request was there before. */
  isNew: boolean;
  /** The output of the program that opened it. */
  printed: string;
}

/** Reads the wish from an answer of `worktree.pr`. */
export const readWish = ({
  branch,
  push_to: pushTo,
  base,
  head,
  title,
  body,
  is_draft: isDraft,
  uses_lfs: usesLfs,
}: WireValue<PullRequestMaterial>): PullRequestWish => ({
  ...{ branch, pushTo, base, head, title, body, isDraft, usesLfs },
});

/** Returns the commands that push a branch and open a pull request for it, in order; each is a program with its arguments. */
export const buildPullRequest = (
  wish: PullRequestWish,
  remote: PublishRemote,
  program: PullRequestProgram,
): string[][] => [...listPushes(wish, remote), [program, ...buildCreate(program, wish, remote)]];

const listPushes = (wish: PullRequestWish, { name: remote }: GitRemote): string[][] => [
  ...(wish.usesLfs ? [['git', ...buildLfsPush(wish, remote)]] : []),
  ['git', ...buildPush(wish, remote)],
];

/** Asks for the state of a pull request at its host. Throws `program_failed`, `tool_missing`. */
export async function askPullRequest(
  run: RunPersonProgram,
  { program, number }: { program: PullRequestProgram; number: number },
  remote: RemoteAddress | null,
): Promise<ToldPullRequest> {
  const told = readState(await run(program, buildView(program, number, remote)), number);
  if (told !== null) return told;
  throw new SvcError('program_failed', `${program} printed nothing readable about #${number}`);
}

/**
 * Pushes a session's branch and opens a pull request for it. After an interrupted attempt it does what is missing.
 * Throws `program_failed` with what was done, `tool_missing`.
 * @param existing its pull request so far: the branch keeps its name, and an open one is not opened again
 */
export async function publishPullRequest(
  run: RunPersonProgram,
  wish: PullRequestWish,
  {
    remote,
    program,
    existing,
  }: {
    remote: PublishRemote;
    program: PullRequestProgram;
    existing: Pick<PullRequest, 'branch' | 'number' | 'url' | 'state'> | null;
  },
): Promise<PublishedBranch> {
  const pushTo = existing?.branch ?? (await chooseName(run, wish, remote.name));
  const named = { ...wish, pushTo };
  for (const [tool = '', ...args] of listPushes(named, remote)) await run(tool, args);
  if (existing?.state === 'open') {
    const { number, url, state } = existing;
    return { branch: pushTo, number, url, state, isNew: false, printed: '' };
  }
  let isNew = true;
  const printed = await run(program, buildCreate(program, named, remote)).catch((thrown: unknown) => {
    const error = asSvcError(thrown);
    const said = String(error.data.printed ?? '');
    // It was opened before, by someone or by an interrupted attempt: the push has updated it.
    isNew = !(/already exists/i.test(said) && readCreated(said) !== null);
    if (!isNew) return said;
    throw new SvcError(error.code, `${pushTo} was pushed, but ${error.message}`, { data: error.data });
  });
  const told = readCreated(printed) ?? { number: null, url: null, state: null };
  return { branch: pushTo, ...told, isNew, printed };
}

/**
 * Chooses the name of a branch at the code host: the wanted one, unless there is a branch with that name whose commits
 * are of someone else.
 */
async function chooseName(run: RunPersonProgram, wish: PullRequestWish, remote: string): Promise<string> {
  const { pushTo, head, base } = wish;
  const ref = `refs/heads/${pushTo}`;
  const printed = await run('git', ['ls-remote', '--', remote, ref]);
  const [, tip] = new RegExp(`^([0-9a-f]{40,64})\\t${ref.replace(/[.]/g, '\\.')}$`, 'm').exec(printed) ?? [];
  if (tip === undefined || tip === head) return pushTo;
  const isAncestor = (of: string): Promise<boolean> =>
    run('git', ['merge-base', '--is-ancestor', tip, of]).then(
      () => true,
      () => false,
    );
  // An earlier attempt has pushed it, before the branch got more commits.
  const isOurs = (await isAncestor(head)) && !(await isAncestor(`refs/heads/${base}`));
  return isOurs ? pushTo : `${pushTo}-${head.slice(0, 7)}`;
}
