import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import type { PrivateGit, PrivateGitRecord } from '../git/private-git.ts';
import {
  buildObjectsEnvironment,
  formatRevisions,
  hasAllObjects,
  INDEX_PACK,
  movePacks,
  type ObjectRange,
  PLAIN,
  PLAIN_SETTINGS,
} from '../git/received-objects.ts';

/** How long the end of a run may take for it. */
export const END_MS = 600_000;

/** git bound to the repository, regardless of surrounding repositories. */
export const gitIn = (plain: Git, { common }: Pick<PrivateGitRecord, 'common'>): Git =>
  withEnvironment(plain, { ...PLAIN, GIT_DIR: common });

/**
 * Copies objects and everything reachable from them into the repository. Throws `worktree_unsafe`, and has then
 * copied nothing.
 */
export async function takeObjects(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
  { wanted, known, timeoutMs }: ObjectRange & { timeoutMs: number },
): Promise<void> {
  if (wanted.length === 0) return;
  const { common } = record;
  const incoming = join(store.folder, 'incoming');
  rmSync(incoming, { recursive: true, force: true });
  mkdirSync(join(incoming, 'pack'), { recursive: true, mode: 0o700 });
  try {
    const input = formatRevisions({ wanted, known });
    const from = ['pack-objects', '--revs', '--stdout', '--quiet', '--window=0', '--no-use-bitmap-index'];
    await gitIn(plain, record).pipe(common, [...PLAIN_SETTINGS, ...from], INDEX_PACK, {
      from: { env: buildObjectsEnvironment(store.objects, common), input, timeoutMs },
      to: { env: buildObjectsEnvironment(incoming, common), timeoutMs },
    });
    const range = { wanted, known, objects: incoming, timeoutMs };
    if (!(await hasAllObjects(gitIn(plain, record), common, range)))
      throw new SvcError('worktree_unsafe', 'objects are missing, or do not match their names');
    movePacks(join(incoming, 'pack'), join(common, 'objects', 'pack'));
  } catch (error) {
    const { message } = asSvcError(error);
    throw new SvcError('worktree_unsafe', message.replace(/^git pack-objects \| git index-pack: /, ''), {
      cause: error,
    });
  } finally {
    rmSync(incoming, { recursive: true, force: true });
  }
}

/** Lists the objects that the repository lacks. */
export async function listMissing(
  plain: Git,
  record: PrivateGitRecord,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { stdout } = await gitIn(plain, record).run(
    record.common,
    ['cat-file', '--batch-check=%(objectname)'],
    {
      input: `${ids.join('\n')}\n`,
      allowFail: true,
    },
  );
  return stdout.split('\n').flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0]!] : []));
}
