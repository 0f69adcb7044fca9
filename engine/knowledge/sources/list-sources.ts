import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isInsideFolder } from '../../core/base/paths.ts';
import { type Git, listAttributedFiles, listWorkingFiles } from '../../workers/runner/worktrees/index.ts';
import { createLanguageTable, type Language } from './languages.ts';
import { countSkipped, judgePath, type SkipCounts } from './skipped.ts';

/** A file of a project that is written in one of the languages, as it was on the disk when it was listed. */
export interface SourceFile {
  /** Relative to the project's folder, with `/`. */
  path: string;
  language: Language;
  /** Bytes. */
  size: number;
  mtimeMs: number;
}

export interface SourceList {
  /** Sorted by path. */
  files: SourceFile[];
  skipped: SkipCounts;
  /** Paths whose names or attributes say that they are not the project's own, which are never read. */
  skippedPaths: Set<string>;
  /** Paths of the files that say where modules are: package.json, tsconfig.json, go.mod, Cargo.toml and the like. */
  manifests: string[];
}

export interface ListRequest {
  /** The project's folder, absolute. */
  root: string;
  git: Git;
  /** Folders that are left out, absolute: the data folder, the worktrees of sessions. */
  without?: readonly string[];
  /** Further extensions; see `createLanguageTable`. */
  parsers?: Readonly<Record<string, string>>;
}

/** Of one project. */
export const MOST_SOURCES = 200_000;
/** Of one source, bytes. */
export const MOST_SOURCE_BYTES = 2 * 1024 * 1024;
const MOST_ATTRIBUTE_BYTES = 256 * 1024;

/**
 * Lists the project's own sources: what git tracks or would add, in a folder without git what lies in it. Ignored files
 * are not among them; vendored, minified, generated and over-large ones are counted. No link is followed.
 */
export async function listSources({ root, git, without = [], parsers }: ListRequest): Promise<SourceList> {
  const languageOf = createLanguageTable(parsers);
  const top = realpathSync.native(root);
  const left = without.map((folder) => realOrSame(folder)).filter((folder) => folder !== top);
  const all = (await listWorkingFiles(top, git)) ?? walkFolder(top);
  const skipped: SkipCounts = {};
  const skippedPaths = new Set<string>();
  const candidates: { path: string; language: Language }[] = [];
  const manifests: string[] = [];
  for (const path of all) {
    if (MANIFEST.test(path) && judgePath(path) === null) manifests.push(path);
    const language = languageOf(path);
    if (language === null || left.some((folder) => isInsideFolder(folder, join(top, path)))) continue;
    const reason = judgePath(path) ?? (candidates.length >= MOST_SOURCES ? 'too_many' : null);
    if (reason === null) candidates.push({ path, language });
    else {
      countSkipped(skipped, reason);
      skippedPaths.add(path);
    }
  }
  for (const [path, attribute] of await findAttributed(top, git, all, candidates)) {
    countSkipped(skipped, attribute === 'linguist-generated' ? 'generated' : 'vendored');
    skippedPaths.add(path);
  }
  const isRealFolder = createFolderCheck(top);
  const files: SourceFile[] = [];
  for (const { path, language } of candidates) {
    if (skippedPaths.has(path)) continue;
    const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
    // Deleted, and git still has it.
    if (stat === undefined) continue;
    if (stat.isSymbolicLink() || !isRealFolder(dirname(path))) countSkipped(skipped, 'link');
    else if (!stat.isFile()) countSkipped(skipped, 'special');
    else if (stat.size > MOST_SOURCE_BYTES) countSkipped(skipped, 'too_large');
    else files.push({ path, language, size: stat.size, mtimeMs: stat.mtimeMs });
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, skipped, skippedPaths, manifests: manifests.sort().slice(0, MOST_MANIFESTS) };
}

const MANIFEST = /(?:^|\/)(?:package|[tj]sconfig[\w.-]*)\.json$|(?:^|\/)(?:go\.mod|Cargo\.toml)$/;
const MOST_MANIFESTS = 5000;

function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Whether a folder of the project is reached through no link. */
function createFolderCheck(top: string): (folder: string) => boolean {
  const known = new Map<string, boolean>();
  return (folder) => {
    const found = known.get(folder);
    if (found !== undefined) return found;
    const path = join(top, folder);
    const isReal = realOrSame(path) === path;
    known.set(folder, isReal);
    return isReal;
  };
}

/** Picks the candidates that a .gitattributes of the project calls generated or vendored. */
async function findAttributed(
  top: string,
  git: Git,
  all: readonly string[],
  candidates: readonly { path: string }[],
): Promise<Map<string, string>> {
  const isNamed = all.some((path) => {
    if (path !== '.gitattributes' && !path.endsWith('/.gitattributes')) return false;
    const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > MOST_ATTRIBUTE_BYTES) return false;
    return /linguist-(?:generated|vendored)/.test(readFileSync(join(top, path), 'utf8'));
  });
  if (!isNamed) return new Map();
  return listAttributedFiles(top, git, {
    attributes: ['linguist-generated', 'linguist-vendored'],
    paths: candidates.map(({ path }) => path),
  });
}

const BUILT =
  /^(?:node_modules|bower_components|vendor|dist|build|out|target|coverage|venv|__pycache__|Pods)$/;
const MOST_WALKED = 2 * MOST_SOURCES;

/** The files of a folder that is in no repository; hidden folders and those of packages and builds are left out. */
function walkFolder(top: string): string[] {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readFolder(join(top, folder))) {
      if (found.length >= MOST_WALKED) return found;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !BUILT.test(entry.name)) folders.push(path);
      } else found.push(path.split(sep).join('/'));
    }
  }
  return found;
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
