import { asSvcError, SvcError } from '../../engine/core/base/errors.ts';
import { toPrintable } from '../../engine/core/base/text.ts';
import { type Api, type EngineClient, runPersonProgram } from '../../engine/index.ts';
import type { CommandContext } from '../command.ts';

type Repository = Api['project.remotes']['output'];

/** The refs under which code hosts keep the head of a pull request: GitHub, Gitea and Forgejo; GitLab; Bitbucket. */
const HEADS = ['refs/pull/#/head', 'refs/merge-requests/#/head', 'refs/pull-requests/#/from'];

export interface FetchedPullRequest {
  branch: string;
  commit: string;
  remote: string;
}

/** In a fork, pull requests are those of the original. */
const listCandidates = ({ remotes }: Repository): string[] => {
  const names = remotes.map(({ name }) => name);
  const known = ['upstream', 'origin'].filter((name) => names.includes(name));
  return known.length > 0 ? known : names;
};

/** Finds the head of a pull request at the first remote that has it. Throws `not_found`. */
async function findHead(
  context: Pick<CommandContext, 'env'>,
  at: Repository,
  number: number,
): Promise<{ remote: string; ref: string; commit: string }> {
  const remotes = listCandidates(at);
  if (remotes.length === 0)
    throw new SvcError('not_found', `${at.repository} has no remote to fetch #${number} from`, {
      hint: 'git remote add origin <address>, then again',
    });
  for (const remote of remotes) {
    const refs = HEADS.map((head) => head.replace('#', String(number)));
    const printed = await runPersonProgram(context, at, 'git', ['ls-remote', '--', remote, ...refs]);
    const [, commit, ref] = /^([0-9a-f]{40,64})\t(refs\/\S+)$/m.exec(printed) ?? [];
    if (commit !== undefined && ref !== undefined) return { remote, ref, commit };
  }
  throw new SvcError('not_found', `there is no pull request #${number} at ${remotes.join(' or ')}`);
}

/** Reports whether a commit contains another; null if one of them is missing. */
const isAncestor = (
  context: Pick<CommandContext, 'env'>,
  at: Repository,
  ancestor: string,
  commit: string,
): Promise<boolean | null> =>
  runPersonProgram(context, at, 'git', ['merge-base', '--is-ancestor', ancestor, commit]).then(
    () => true,
    (error: unknown) => (asSvcError(error).data.exit_code === 1 ? false : null),
  );

/**
 * Fetches the head of a pull request into the branch `pr-12`, with the person's own git and login. A branch that exists
 * is only moved forward. Throws `not_found`, `conflict`, `program_failed`.
 */
export async function fetchPullRequest(
  context: Pick<CommandContext, 'env' | 'note'>,
  client: EngineClient,
  number: number,
  project: string | null | undefined,
): Promise<FetchedPullRequest> {
  if (!Number.isSafeInteger(number) || number < 1)
    throw new SvcError('usage', `${number} is not the number of a pull request`);
  const at = await client.call('project.remotes', project == null ? {} : { project });
  const { remote, ref, commit } = await findHead(context, at, number);
  const branch = `pr-${number}`;
  const options = ['--no-tags', '--no-write-fetch-head', '--recurse-submodules=no'];
  const words = ['fetch', ...options, '--', remote, `${ref}:refs/heads/${branch}`];
  await runPersonProgram(context, at, 'git', words).catch(async (thrown: unknown) => {
    const own = `refs/heads/${branch}`;
    // Work that was promoted into it is on top of the pull request.
    if ((await isAncestor(context, at, commit, own)) === true) return;
    if ((await isAncestor(context, at, own, commit)) !== false) throw thrown;
    throw new SvcError('conflict', `${branch} and #${number} have diverged`, {
      cause: thrown,
      hint: `--base ${branch} takes it as it is; to have both, merge or rebase it onto ${commit.slice(0, 10)}`,
    });
  });
  context.note(toPrintable(`#${number} of ${remote}, at ${commit.slice(0, 10)}, is in ${branch}`));
  return { branch, commit, remote };
}
