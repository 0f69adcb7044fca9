import { isSavedWork } from '../../../../core/base/saved-work.ts';
import { toPrintable } from '../../../../core/base/text.ts';
import { commitTree } from '../git/commit-tree.ts';
import type { Git } from '../git/git.ts';

/** A commit that only the branch has. */
interface OwnCommit {
  id: string;
  tree: string;
  subject: string;
  message: string;
  coauthors: string[];
  parents: string[];
  /** The environment that gives a commit the same author. */
  author: Record<string, string>;
  /** When it was committed, Unix s. */
  committedAt: number;
}

const FIELDS = [
  '%H',
  '%T',
  '%s',
  '%an',
  '%ae',
  '%ad',
  '%P',
  '%ct',
  '%(trailers:key=Co-authored-by,only,unfold,separator=%x0A)',
  '%B',
];

/** Lists the commits between two, each after its parents. */
async function listOwnCommits(
  git: Git,
  root: string,
  base: string,
  tip: string,
  { merges }: { merges: boolean },
): Promise<OwnCommit[]> {
  const order = ['--reverse', '--topo-order', ...(merges ? [] : ['--no-merges'])];
  // Only a NUL is in no text of a commit.
  const format = ['--date=raw', '--encoding=UTF-8', '-z', `--format=${FIELDS.join('%x00')}`];
  const { stdout } = await git.run(root, ['log', ...order, ...format, `${base}..${tip}`]);
  const texts = stdout.split('\0');
  return Array.from({ length: Math.floor(texts.length / FIELDS.length) }, (_, at) => {
    const [id = '', tree = '', subject = '', name = '', email = '', date = '', ...rest] = texts.slice(
      at * FIELDS.length,
    );
    const [parents = '', committedAt = '0', coauthors = '', message = ''] = rest;
    return {
      id,
      tree,
      subject,
      message: message.trimEnd(),
      parents: parents.split(' ').filter((each) => each !== ''),
      coauthors: coauthors.split('\n').filter((each) => each !== ''),
      committedAt: Number(committedAt),
      author: { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
    };
  });
}

/**
 * Gives commits that svc made for a worker another message, and writes all commits of the branch again if there are
 * any: had the base some of the branch's own, these would no longer count as its work. Returns the new end of the branch.
 */
export async function rewordSavedWork(
  git: Git,
  root: string,
  { base, tip, message }: { base: string; tip: string; message: string },
): Promise<string> {
  const commits = await listOwnCommits(git, root, base, tip, { merges: true });
  if (!commits.some(({ subject }) => isSavedWork(subject))) return tip;
  const renewed = new Map<string, string>();
  for (const { id, tree, subject, message: own, parents, author, committedAt } of commits) {
    // Written in the same second, it would be the same commit.
    const isSameSecond = committedAt >= Math.floor(Date.now() / 1000);
    const later = isSameSecond ? { GIT_COMMITTER_DATE: `@${committedAt + 1} +0000` } : {};
    const commit = await commitTree(git, root, {
      tree,
      parents: parents.map((parent) => renewed.get(parent) ?? parent),
      message: isSavedWork(subject) ? message : own,
      env: { ...author, ...later },
    });
    renewed.set(id, commit);
  }
  return renewed.get(tip) ?? tip;
}

/** A longer list helps no reader. */
const MOST_SUBJECTS = 50;

/** Subjects that say nothing once the commits are one. */
const isMeaningless = (subject: string): boolean =>
  subject === '' || isSavedWork(subject) || /^(?:fixup|squash|amend)! /.test(subject);

/** Writes the message of a commit with the work of a branch: the title, the subjects of its commits and the trailers. */
export async function writeSquashMessage(
  git: Git,
  root: string,
  { base, tip, title, trailers }: { base: string; tip: string; title: string; trailers: readonly string[] },
): Promise<string> {
  const commits = await listOwnCommits(git, root, base, tip, { merges: false });
  const subjects = new Set(
    commits
      .filter(({ subject }) => !isMeaningless(subject))
      .map(({ subject }) => toPrintable(subject))
      .filter((subject) => subject !== title),
  );
  const shown = [...subjects].slice(0, MOST_SUBJECTS).map((subject) => `- ${subject}`);
  const left = subjects.size - shown.length;
  const ends = new Set([
    ...trailers,
    ...commits.flatMap(({ coauthors }) => coauthors.map((each) => toPrintable(each))),
  ]);
  return [title, [...shown, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n'), [...ends].join('\n')]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}
