import { type Git, NO_DIFF_PROGRAMS } from './git.ts';

/** Both sides of a comparison must be generated alike, regardless of the user's configuration. */
const PATCH = [
  '-p',
  ...NO_DIFF_PROGRAMS,
  '--no-color',
  '--no-renames',
  '--full-index',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=myers',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
];
/** How many commits back a squashed commit is searched for. */
const MAX_COMMITS = 1000;
/** Output beyond this is ignored. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The change to each file, keyed by the line that names the file, regardless of its position in the file. */
export type GitPatch = ReadonlyMap<string, string>;

/** The patch of one file without positions: line numbers differ between versions. */
const stripPositions = (text: string): string =>
  (/^Binary files /m.test(text) ? text : text.replace(/^index .*\n/m, '')).replace(/^@@ .*$/gm, '@@');

/** Patches keyed by the line before them; lines of a patch's content always start with a marker. */
function parsePatches(text: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const part of text.split(/^(?=commit [0-9a-f]{40,64}$|[0-9a-f]{40,64} [0-9a-f]{40,64}$)/m)) {
    const [head = '', ...files] = part.split(/^(?=diff --git )/m);
    if (head === '') continue;
    const patch = new Map<string, string>();
    for (const file of files) patch.set(file.slice(0, file.indexOf('\n')), stripPositions(file));
    found.set(head.trim().replace(/^commit /, ''), patch);
  }
  return found;
}

const LOG = ['log', '--no-merges', '--full-history', '--format=commit %H', ...PATCH];

/** The patches of commits, without merges, newest first. @param paths as pathspecs; all without any */
export async function readPatches(
  git: Git,
  cwd: string,
  {
    wanted,
    known,
    paths = [],
  }: { wanted: readonly string[]; known: readonly string[]; paths?: readonly string[] },
): Promise<Map<string, GitPatch>> {
  const input = `${[...wanted, ...known.map((id) => `^${id}`)].join('\n')}\n`;
  const { stdout } = await git.run(cwd, [...LOG, `--max-count=${MAX_COMMITS}`, '--stdin', '--', ...paths], {
    input,
    maxBytes: MAX_BYTES,
  });
  return parsePatches(stdout);
}

/** Diffs pairs of trees. The results are in the order of the pairs. */
export async function diffTrees(
  git: Git,
  cwd: string,
  pairs: readonly { from: string; to: string }[],
): Promise<GitPatch[]> {
  const lines = pairs.map(({ from, to }) => `${from} ${to}`);
  const { stdout } = await git.run(cwd, ['diff-tree', '--stdin', '-r', ...PATCH], {
    input: lines.map((line) => `${line}\n`).join(''),
    maxBytes: MAX_BYTES,
  });
  const found = parsePatches(stdout);
  return lines.map((line) => found.get(line) ?? new Map());
}

/** Reports whether a change includes all of another, and perhaps more. */
export const containsPatch = (whole: GitPatch, part: GitPatch): boolean =>
  [...part].every(([file, text]) => whole.get(file) === text);
