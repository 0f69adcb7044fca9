import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import type { PrivateGit, PrivateGitRecord } from '../git/private-git.ts';

/** A larger pack of new objects is not taken over. */
const MOST_BYTES = 4 * 1024 ** 3;
/** Memory limit for one object: a few bytes of a pack can expand to any size. */
const MOST_MEMORY = '1g';
/** How long the end of a run may take for it. */
export const END_MS = 600_000;

/** Disables replacement objects and network fetches. */
export const PLAIN = { GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1', GIT_ALLOC_LIMIT: MOST_MEMORY };
const PLAIN_SETTINGS = ['core.commitGraph', 'core.multiPackIndex', 'pack.useBitmaps'].flatMap((name) => [
  '-c',
  `${name}=false`,
]);

/** Objects and everything reachable from them, minus what is reachable from the known ones. */
interface Wanted {
  wanted: readonly string[];
  known: readonly string[];
  timeoutMs: number;
}

const formatRevisions = ({ wanted, known }: Pick<Wanted, 'wanted' | 'known'>): string =>
  `${[...wanted, ...known.map((id) => `^${id}`)].join('\n')}\n`;

const realObjectsFolder = ({ common }: PrivateGitRecord): string => join(common, 'objects');
/** The environment of git that writes objects into a folder, and also reads those of the repository. */
export const buildObjectsEnvironment = (objects: string, record: PrivateGitRecord) => ({
  GIT_OBJECT_DIRECTORY: objects,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(realObjectsFolder(record)),
});
/** git bound to the repository, regardless of surrounding repositories. */
export const gitIn = (plain: Git, { common }: PrivateGitRecord): Git =>
  withEnvironment(plain, { ...PLAIN, GIT_DIR: common });

/** Reports whether everything reachable is in the repository, or in `objects`. */
async function hasAllObjects(
  plain: Git,
  record: PrivateGitRecord,
  { wanted, known, objects, timeoutMs }: Wanted & { objects: string },
): Promise<boolean> {
  const args = [...PLAIN_SETTINGS, 'rev-list', '--objects', '--quiet', '--stdin'];
  return gitIn(plain, record).succeeds(record.common, args, {
    env: buildObjectsEnvironment(objects, record),
    input: formatRevisions({ wanted, known }),
    timeoutMs,
  });
}

/**
 * Copies objects and everything reachable from them into the repository. Throws `worktree_unsafe`, and has then
 * copied nothing.
 */
export async function takeObjects(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
  { wanted, known, timeoutMs }: Wanted,
): Promise<void> {
  if (wanted.length === 0) return;
  const incoming = join(store.folder, 'incoming');
  rmSync(incoming, { recursive: true, force: true });
  mkdirSync(join(incoming, 'pack'), { recursive: true, mode: 0o700 });
  try {
    const input = formatRevisions({ wanted, known });
    const from = ['pack-objects', '--revs', '--stdout', '--quiet', '--window=0', '--no-use-bitmap-index'];
    const to = ['index-pack', '--stdin', '--strict', '--fix-thin', `--max-input-size=${MOST_BYTES}`];
    await gitIn(plain, record).pipe(record.common, [...PLAIN_SETTINGS, ...from], [...PLAIN_SETTINGS, ...to], {
      from: { env: buildObjectsEnvironment(store.objects, record), input, timeoutMs },
      to: { env: buildObjectsEnvironment(incoming, record), timeoutMs },
    });
    if (!(await hasAllObjects(plain, record, { wanted, known, objects: incoming, timeoutMs })))
      throw new SvcError('worktree_unsafe', 'objects are missing, or do not match their names');
    movePacks(join(incoming, 'pack'), join(realObjectsFolder(record), 'pack'));
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

/** Moves packs by name; the index last, since git looks for it. */
function movePacks(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from).filter((name) => /^pack-[0-9a-f]+\.(?:pack|rev|idx)$/.test(name));
  for (const end of ['.pack', '.rev', '.idx'])
    for (const name of names.filter((each) => each.endsWith(end))) {
      try {
        renameSync(join(from, name), join(to, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        copyFileSync(join(from, name), join(to, `${name}.svc`));
        renameSync(join(to, `${name}.svc`), join(to, name));
      }
    }
}
