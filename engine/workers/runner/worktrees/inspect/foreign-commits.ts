import { SvcError } from '../../../../core/base/errors.ts';
import { sentence } from '../../../../core/base/sentence.ts';
import { formatCount } from '../../../../core/base/text.ts';
import type { Git } from '../git/git.ts';
import { resolveCommit, sessionNameOf } from '../git/refs.ts';

/** Commits of a session's branch that are neither its own nor the base's, because the base has moved back or is another branch. */
export interface ForeignCommits {
  /** The newest of them; the session's own commits follow it. */
  newest: string;
  count: number;
  /** The first few, as id and subject. */
  shown: string[];
}

const MOST_SHOWN = 3;

/**
 * Finds commits that a merge of a session's branch would bring into a base although the session did not make them:
 * the base has lost them since the session started, or never had them. Null if there are none.
 * @param baseCommit where the session started, as recorded
 * @throws `conflict` if that commit is no longer in the repository, so that the authorship of commits is unknown
 */
export async function findForeignCommits(
  git: Git,
  root: string,
  { branch, base, tip, target, baseCommit }: Sides,
): Promise<ForeignCommits | null> {
  const { code } = await git.run(root, ['merge-base', '--is-ancestor', baseCommit, target], {
    allowFail: true,
  });
  if (code === 0) return null;
  if ((await resolveCommit(git, root, baseCommit)) === null)
    throw new SvcError(
      'conflict',
      `${base} was rewritten, and the commit ${baseCommit.slice(0, 12)} that ${branch} started from is no longer in the repository: svc cannot tell which commits belong to the session`,
      {
        hint: `git log ${base}..${branch} shows what a merge would bring; merge what belongs in ${base} by hand`,
        data: { branch, base, base_commit: baseCommit },
      },
    );
  const common = await git.run(root, ['merge-base', tip, baseCommit], { allowFail: true });
  const newest = common.stdout.split('\n')[0] ?? '';
  // The branch was reset to something unrelated and no longer contains its start.
  if (common.code !== 0 || newest === '') return null;
  const count = Number(await git.text(root, ['rev-list', '--count', newest, `^${target}`]));
  if (count === 0) return null;
  const log = [
    'log',
    '--no-show-signature',
    `--max-count=${MOST_SHOWN}`,
    '--format=%h %s',
    newest,
    `^${target}`,
  ];
  return { newest, count, shown: (await git.text(root, log)).split('\n') };
}

interface Sides {
  branch: string;
  base: string;
  /** The ends of the branch and the base. */
  tip: string;
  target: string;
  baseCommit: string;
}

/** The error that refuses a merge which would bring in foreign commits. */
export function foreignCommitsError(
  { branch, base }: Pick<Sides, 'branch' | 'base'>,
  foreign: ForeignCommits,
): SvcError {
  const { count, shown } = foreign;
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  return new SvcError(
    'conflict',
    `a merge of ${branch} would bring ${formatCount(count, 'commit')} into ${base} that it does not contain and that the session did not make: ${shown.join(', ')}${more}; nothing was changed`,
    {
      hint: sentence`{worktree.promote ${sessionNameOf(branch)} strategy=rebase} takes only the session’s own commits; to include the others, merge them into ${base} first`,
      data: { branch, base, newest: foreign.newest, count },
    },
  );
}
