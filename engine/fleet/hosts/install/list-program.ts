import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SvcError } from '../../../core/base/errors.ts';
import {
  GRAMMARS_FOLDER,
  locateProgram,
  PROGRAMS_FOLDER,
  version,
  WORDS_FOLDER,
} from '../../../core/base/own-package.ts';
import { platform } from '../../../core/platform/index.ts';

/** A file to install. */
export interface ProgramFile {
  /** Below the folder of the program on the host, with slashes. */
  name: string;
  source: string;
  size: number;
}

export interface ProgramFiles {
  files: ProgramFile[];
  /** The space that the files take on a disk. */
  bytes: number;
  /** Names the version and the content. */
  name: string;
}

/** The carried Node, below the folder of the program. */
export const CARRIED_NODE = 'bin/node';
/** Parts of this package that run. */
const PARTS = ['package.json', PROGRAMS_FOLDER, GRAMMARS_FOLDER, WORDS_FOLDER];
/** Sources and texts in packages, which no program loads; licences have no such ending or stay. */
const NEVER_LOADED = /\.(?:c|cc|cpp|h|hpp|gypi?|map|[cm]?ts|md)$/;
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;
const BLOCK = 4096;

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/**
 * Lists the files of this program: what an installation of its package contains, and this Node if asked. Throws
 * `storage_failed` if one cannot be read.
 */
export async function listProgram({ withNode }: { withNode: boolean }): Promise<ProgramFiles> {
  try {
    const root = realpathSync(dirname(dirname(dirname(locateProgram('svc')))));
    const files = [
      ...PARTS.flatMap((part) => listBelow(join(root, part), part, () => true)),
      ...listPackages(root),
      ...(withNode ? listBelow(realpathSync(process.execPath), CARRIED_NODE, () => true) : []),
    ].sort((one, other) => (one.name < other.name ? -1 : 1));
    const digest = await hashFiles(files);
    const bytes = files.reduce((sum, { size }) => sum + Math.ceil(size / BLOCK) * BLOCK + BLOCK, 0);
    return { files, bytes, name: `${version}-${digest.slice(0, 16)}` };
  } catch (error) {
    throw new SvcError('storage_failed', `the own program cannot be read: ${(error as Error).message}`, {
      cause: error,
      hint: 'build or install svc again',
    });
  }
}

/** Lists a file, or the files below a folder, without links. */
function listBelow(
  source: string,
  name: string,
  isWanted: (name: string, base: string) => boolean,
): ProgramFile[] {
  const entry = statSync(source);
  if (entry.isFile()) return [{ name, source, size: entry.size }];
  return readdirSync(source, { withFileTypes: true }).flatMap((each) => {
    const inner = `${name}/${each.name}`;
    if (!isWanted(inner, each.name)) return [];
    if (each.isFile() || each.isDirectory()) return listBelow(join(source, each.name), inner, isWanted);
    return [];
  });
}

const hashFile = async (source: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  return hash.digest('hex');
};

async function hashFiles(files: readonly ProgramFile[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, source } of files) hash.update(`${name}\0${await hashFile(source)}\n`);
  return hash.digest('hex');
}

/** Lists the packages that are not bundled, with those that they need. */
function listPackages(root: string): ProgramFile[] {
  /** The folder of each package, by its folder on the host. */
  const placed = new Map<string, string>();
  const { dependencies = {} } = readManifest(root);
  const waiting = Object.keys(dependencies).map((name) => ({
    name,
    from: root,
    target: '',
    isOptional: false,
  }));
  // Breadth first: packages of an outer folder are placed before an inner one looks for its own.
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name, from, target, isOptional } = next;
    const source = findPackage(name, from);
    if (source === null) {
      if (isOptional) continue;
      throw new Error(`the package ${name} is missing`);
    }
    const place = choosePlace(placed, target, name, source);
    if (place === null) continue;
    placed.set(place, source);
    const manifest = readManifest(source);
    const optional = Object.keys(manifest.optionalDependencies ?? {});
    const needed = Object.keys(manifest.dependencies ?? {}).filter((each) => !optional.includes(each));
    for (const [names, isInnerOptional] of [
      [needed, false],
      [optional, true],
    ] as const)
      for (const each of names)
        waiting.push({ name: each, from: source, target: place, isOptional: isInnerOptional });
  }
  return [...placed].flatMap(([place, source]) => listBelow(source, place, isLoaded));
}

/** Finds a package as Node does: in `node_modules` of a folder, or of one above it. */
function findPackage(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (folder === dirname(folder)) return null;
  }
}

/** Chooses where a package belongs on the host; null if the one that needs it finds it already. */
function choosePlace(
  placed: ReadonlyMap<string, string>,
  target: string,
  name: string,
  source: string,
): string | null {
  const prefix = target === '' ? '' : `${target}/`;
  for (
    let folder = prefix;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/', folder.length - 2)))
  ) {
    const found = placed.get(`${folder}node_modules/${name}`);
    if (found === source) return null;
    if (found !== undefined) return `${prefix}node_modules/${name}`;
    if (folder === '') return `node_modules/${name}`;
  }
}

/** Leaves out other packages, which are placed separately, sources, and native code of other systems. */
function isLoaded(name: string, base: string): boolean {
  if (base === 'node_modules') return false;
  if (/\/prebuilds\/[^/]+$/.test(name)) return base.startsWith(platform.name);
  return LICENCE.test(base) || !NEVER_LOADED.test(base);
}
