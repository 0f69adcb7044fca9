import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isInsideFolder } from '../../core/base/paths.ts';
import { type Git, listAttributedFiles, listWorkingFiles } from '../../workers/runner/worktrees/index.ts';
import { createLanguageTable, type SourceLanguage } from './languages.ts';
import { countSkipped, isOwnVendor, judgePath, type SkipCounts, type SkipReason } from './skipped.ts';

/** A source file of a project, in its state when it was listed. */
export interface SourceFile {
  /** Relative to the project's folder, with `/`. */
  path: string;
  language: SourceLanguage;
  /** Bytes. */
  size: number;
  mtimeMs: number;
}

export interface SourceList {
  /** Sorted by path. */
  files: SourceFile[];
  skipped: SkipCounts;
  /** Paths that are never read, because their names or attributes mark them as foreign. */
  skippedPaths: Set<string>;
  /** Paths of the module manifests: package.json, tsconfig.json, go.mod, Cargo.toml and the like. */
  manifests: string[];
}

export interface ListRequest {
  /** The project's folder, absolute. */
  root: string;
  git: Git;
  /** Excluded folders, absolute: the data folder, the worktrees of sessions. */
  without?: readonly string[];
  /** Further extensions; see `createLanguageTable`. */
  parsers?: Readonly<Record<string, string>>;
}

/** Maximum files per project. */
export const MOST_SOURCES = 200_000;
/** Maximum bytes per source. */
export const MOST_SOURCE_BYTES = 2 * 1024 * 1024;
const MOST_ATTRIBUTE_BYTES = 256 * 1024;

/**
 * Lists the project's own sources: files that git tracks or would add; without git, files in the folder. Ignored
 * files are excluded; vendored, minified, generated and oversized ones are counted. No link is followed.
 */
export async function listSources({ root, git, without = [], parsers }: ListRequest): Promise<SourceList> {
  const languageOf = createLanguageTable(parsers);
  const top = realpathSync.native(root);
  const left = without.map((folder) => realOrSame(folder)).filter((folder) => folder !== top);
  const tracked = await listWorkingFiles(top, git);
  const all = tracked ?? walkFolder(top);
  const listed = new Set(tracked);
  const judge = (path: string): SkipReason | null => {
    const reason = judgePath(path);
    const isOwn = reason === 'vendored' && isOwnVendor(path, (each) => listed.has(each));
    return isOwn && listed.size > 0 ? null : reason;
  };
  const skipped: SkipCounts = {};
  if (listed.has('.gitmodules')) for (const _ of readSubmodules(top)) countSkipped(skipped, 'submodule');
  const skippedPaths = new Set<string>();
  const candidates: { path: string; language: SourceLanguage }[] = [];
  const manifests: string[] = [];
  for (const path of all) {
    if (MANIFEST.test(path) && judge(path) === null) manifests.push(path);
    const language = languageOf(path);
    if (language === null || left.some((folder) => isInsideFolder(folder, join(top, path)))) continue;
    const reason = judge(path) ?? (candidates.length >= MOST_SOURCES ? 'too_many' : null);
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
    // Deleted, but still in git.
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

/** Returns the folders of submodules, whose files git does not list. */
function readSubmodules(top: string): string[] {
  const path = join(top, '.gitmodules');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MOST_ATTRIBUTE_BYTES) return [];
  return [...readFileSync(path, 'utf8').matchAll(/^\s*path\s*=\s*(\S.*?)\s*$/gm)].map(
    ([, folder]) => folder!,
  );
}

function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Reports whether a folder of the project can be reached without a link. */
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

/** Selects the candidates that a .gitattributes of the project marks as generated or vendored. */
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

/** Returns the files of a folder without a repository; hidden folders, packages and build outputs are skipped. */
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
