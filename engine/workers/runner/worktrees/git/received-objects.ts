import { copyFileSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.ts';

/** A larger pack of new objects is refused. */
export const MOST_PACK_BYTES = 4 * 1024 ** 3;
/** Memory limit for one object: a few bytes of a pack can expand to any size. */
const MOST_MEMORY = '1g';

/** Disables replacement objects and network fetches. */
export const PLAIN = { GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1', GIT_ALLOC_LIMIT: MOST_MEMORY };
export const PLAIN_SETTINGS = ['core.commitGraph', 'core.multiPackIndex', 'pack.useBitmaps'].flatMap(
  (name) => ['-c', `${name}=false`],
);

/** Arguments of the git that checks and renames received objects by their content. */
export const INDEX_PACK = [
  ...PLAIN_SETTINGS,
  'index-pack',
  '--stdin',
  '--strict',
  '--fix-thin',
  `--max-input-size=${MOST_PACK_BYTES}`,
];

/** Objects and everything reachable from them, minus what is reachable from the known ones. */
export interface ObjectRange {
  wanted: readonly string[];
  known: readonly string[];
}

export const formatRevisions = ({ wanted, known }: ObjectRange): string =>
  `${[...wanted, ...known.map((id) => `^${id}`)].join('\n')}\n`;

/** The environment of git that writes objects into a folder, and also reads those of the repository. */
export const buildObjectsEnvironment = (objects: string, common: string) => ({
  GIT_OBJECT_DIRECTORY: objects,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(common, 'objects')),
});

/** Reports whether everything reachable is in the repository, or in `objects`. */
export function hasAllObjects(
  git: Git,
  common: string,
  { objects, timeoutMs, ...range }: ObjectRange & { objects: string; timeoutMs: number },
): Promise<boolean> {
  const args = [...PLAIN_SETTINGS, 'rev-list', '--objects', '--quiet', '--stdin'];
  return git.succeeds(common, args, {
    env: buildObjectsEnvironment(objects, common),
    input: formatRevisions(range),
    timeoutMs,
  });
}

/** Moves packs by name; the index last, since git looks for it. */
export function movePacks(from: string, to: string): void {
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
