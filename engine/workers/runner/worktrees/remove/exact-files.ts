import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Git, splitRecords, withEnvironment } from '../git/git.ts';
import { copyIndex } from '../git/index-flags.ts';

/** Highest in precedence where git looks for attributes: no file is converted, encoded or filtered. */
const NO_CONVERSION = '* -text -eol -filter -ident -working-tree-encoding\n';

/** Settings that make a repository see the files of this file system unchanged. */
const SETTINGS = '^core\\.(filemode|symlinks|ignorecase|precomposeunicode|excludesfile)$';

const quotePath = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

/** A worktree and its git folder. */
export interface ExactPlace {
  path: string;
  gitDir: string;
  commonDir: string;
}

/**
 * Runs `work` with a git that reads and writes the files of a worktree byte for byte: without the conversions and
 * filters of the repository, the user or a worker. Its index is a temporary copy of the worktree's; objects belong to
 * the repository.
 * @param idLength of the repository's object ids
 */
export async function withExactFiles<T>(
  git: Git,
  { path, gitDir, commonDir }: ExactPlace,
  idLength: number,
  work: (exact: Git) => Promise<T>,
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-exact-')));
  try {
    const pathInFolder = (name: string): string => join(folder, name);
    for (const each of ['objects', 'refs', 'info']) mkdirSync(pathInFolder(each));
    const { stdout } = await git.run(path, ['config', '--null', '--get-regexp', SETTINGS], {
      allowFail: true,
      env: { GIT_DIR: gitDir, GIT_WORK_TREE: path },
    });
    const settings = splitRecords(stdout).map((record) => {
      const end = record.indexOf('\n');
      return end === -1
        ? `\t${record.slice('core.'.length)}\n`
        : `\t${record.slice('core.'.length, end)} = ${quotePath(record.slice(end + 1))}\n`;
    });
    const format = idLength === 64 ? '[extensions]\n\tobjectFormat = sha256\n' : '';
    writeFileSync(pathInFolder('HEAD'), 'ref: refs/heads/none\n');
    writeFileSync(
      pathInFolder('config'),
      `[core]\n\trepositoryformatversion = 1\n\tbare = false\n${settings.join('')}${format}`,
    );
    writeFileSync(pathInFolder('info/attributes'), NO_CONVERSION);
    const exclude = join(commonDir, 'info', 'exclude');
    if (existsSync(exclude)) copyFileSync(exclude, pathInFolder('info/exclude'));
    // An index may be split in two.
    for (const name of readdirSync(gitDir))
      if (/^(?:index|sharedindex\.[0-9a-f]+)$/.test(name)) copyIndex(join(gitDir, name), pathInFolder(name));
    return await work(
      withEnvironment(git, {
        GIT_DIR: folder,
        GIT_WORK_TREE: path,
        GIT_INDEX_FILE: pathInFolder('index'),
        GIT_OBJECT_DIRECTORY: join(commonDir, 'objects'),
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
