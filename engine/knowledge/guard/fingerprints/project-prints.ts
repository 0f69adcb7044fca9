import { realpathSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isInsideFolder } from '../../../core/base/paths.ts';
import type { Git } from '../../../workers/runner/worktrees/index.ts';
import {
  createLanguageTable,
  judgePath,
  listSources,
  readSource,
  type SourceFile,
  type SourceLanguage,
} from '../../sources/index.ts';
import { readCode } from '../code/read-code.ts';
import { findSyntax } from '../code/syntaxes.ts';
import type { CopyIndex } from '../copies/find-copies.ts';
import { takeFingerprints } from '../copies/fingerprints.ts';
import { createHashIndex } from '../copies/hash-index.ts';
import { type CopySettings, chooseSamplings } from '../copies/settings.ts';
import type { FingerprintFile, KnownFile } from './fingerprint-file.ts';

/** One folder of sources: a project, or a worktree of it. */
export interface ProjectPrints {
  /** With links resolved. */
  readonly root: string;
  /** True if all files were read since they were last listed. */
  readonly isWhole: boolean;
  /** Number of files with known fingerprints. */
  readonly size: number;
  /** Returns files by language, most first. */
  countLanguages(): [SourceLanguage, number][];
  /** Returns the files that are compared, sorted. */
  listPaths(): string[];
  /** Returns the path of a content in this folder, relative to it. */
  pathsOf(content: number): readonly string[];
  /** Reports whether a path is not the project's own code, by its name or its attributes. */
  isSkipped(path: string): boolean;
  /** Lists the files again and reads the changed ones, a few at a time. */
  refresh(): Promise<void>;
  /** Reads files that are known to have changed. */
  touch(paths: readonly string[]): void;
}

/** All folders, and the in-memory tables that they share. */
export interface PrintedProjects {
  readonly index: CopyIndex;
  open(root: string): ProjectPrints;
}

/** Milliseconds between two checks for waiting callers. */
const SLICE_MS = 8;

interface PrintedProjectsDeps {
  file: FingerprintFile;
  settings: CopySettings;
  git: Git;
  /** Excluded folders, absolute. */
  without: readonly string[];
  parsers: Readonly<Record<string, string>>;
  /** Languages whose files come first; empty for the most frequent ones. */
  primary: readonly SourceLanguage[];
}

/** Keeps the fingerprints of folders up to date with their files. */
export function createPrintedProjects(deps: PrintedProjectsDeps): PrintedProjects {
  const contents = createContentPrints(deps);
  const projects = new Map<string, ProjectPrints>();

  return {
    index: contents.index,
    open(folder) {
      const root = realpathSync.native(folder);
      let project = projects.get(root);
      if (project === undefined) {
        project = createProject(deps, contents, root);
        projects.set(root, project);
      }
      return project;
    },
  };
}

/** Creates the fingerprints of contents, in memory and in the file. */
function createContentPrints({ file, settings }: Pick<PrintedProjectsDeps, 'file' | 'settings'>) {
  const samplings = chooseSamplings(settings);
  const index: CopyIndex = { whole: createHashIndex(), edited: createHashIndex() };
  const loaded = new Set<number>();

  function loadPrints(content: number): void {
    if (loaded.has(content)) return;
    const prints = file.readContent(content);
    if (prints === null) return;
    loaded.add(content);
    index.whole.add(content, prints.whole);
    index.edited.add(content, prints.edited);
  }

  /** Reads a file and returns its new state; null if it no longer exists. */
  function readFile(root: string, { path, language, size, mtimeMs }: SourceFile): KnownFile | null {
    const source = readSource(root, path);
    if (source === 'gone') return null;
    if (typeof source === 'string') return { path, size, mtimeMs, content: null };
    let content = file.findContent(source.hash, language);
    if (content === null) {
      const { shapes } = readCode(source.text, findSyntax(language)).tokens;
      content = file.addContent(source.hash, {
        language,
        whole: takeFingerprints(shapes, samplings.whole),
        edited: takeFingerprints(shapes, samplings.edited),
      });
    }
    return { path, size: source.size, mtimeMs: source.mtimeMs, content };
  }

  return { index, loadPrints, readFile };
}

/** Creates the files of a folder whose fingerprints are known. */
function createKnownFiles(loadPrints: (content: number) => void) {
  const known = new Map<string, KnownFile>();
  const places = new Map<number, string[]>();

  function forgetFilePrints(path: string): void {
    const old = known.get(path);
    if (old === undefined) return;
    known.delete(path);
    if (old.content === null) return;
    const left = (places.get(old.content) ?? []).filter((each) => each !== path);
    if (left.length === 0) places.delete(old.content);
    else places.set(old.content, left);
  }

  function learn(each: KnownFile): void {
    forgetFilePrints(each.path);
    known.set(each.path, each);
    if (each.content === null) return;
    places.set(each.content, [...(places.get(each.content) ?? []), each.path]);
    loadPrints(each.content);
  }

  return { known, places, forgetFilePrints, learn };
}

/** Creates the fingerprints of one folder. */
function createProject(
  { file, settings, git, without, parsers, primary }: PrintedProjectsDeps,
  { readFile, loadPrints }: ReturnType<typeof createContentPrints>,
  root: string,
): ProjectPrints {
  const languageOf = createLanguageTable(parsers);
  const languages = new Map<string, SourceLanguage>();
  const { known, places, forgetFilePrints, learn } = createKnownFiles(loadPrints);
  let skipped: ReadonlySet<string> = new Set();
  let isWhole = false;
  let refreshing: Promise<void> | null = null;

  function readOne(source: SourceFile): void {
    const read = readFile(root, source);
    if (read === null) {
      forgetFilePrints(source.path);
      file.removeFile(root, source.path);
    } else {
      learn(read);
      file.setFile(root, read);
      languages.set(source.path, source.language);
    }
  }

  async function readChanged(changed: readonly SourceFile[]): Promise<void> {
    for (let at = 0; at < changed.length; ) {
      const until = performance.now() + SLICE_MS;
      file.change(() => {
        while (at < changed.length && performance.now() < until) {
          readOne(changed[at] as SourceFile);
          at += 1;
        }
      });
      await setImmediate();
    }
  }

  async function lookAgain(): Promise<void> {
    // A worktree is inside the data folder.
    const inside = without.filter((folder) => !isInsideFolder(folder, root));
    const { files, skippedPaths } = await listSources({ root, git, without: inside, parsers });
    const own = takeFirst(files, primary, settings.maxFiles);
    skipped = skippedPaths;
    const there = new Set(own.map(({ path }) => path));
    const gone = [...known.keys()].filter((path) => !there.has(path));
    if (gone.length > 0)
      file.change(() => {
        for (const path of gone) {
          forgetFilePrints(path);
          file.removeFile(root, path);
        }
      });
    languages.clear();
    for (const { path, language } of own) languages.set(path, language);
    await readChanged(
      own.filter(({ path, size, mtimeMs }) => {
        const before = known.get(path);
        return before === undefined || before.size !== size || before.mtimeMs !== mtimeMs;
      }),
    );
    isWhole = true;
  }

  for (const each of file.listFiles(root)) learn(each);
  return {
    root,
    get isWhole() {
      return isWhole;
    },
    get size() {
      return known.size;
    },
    countLanguages() {
      const counts = new Map<SourceLanguage, number>();
      for (const language of languages.values()) counts.set(language, (counts.get(language) ?? 0) + 1);
      return [...counts].sort(([, one], [, other]) => other - one);
    },
    listPaths: () => [...languages.keys()],
    pathsOf: (content) => places.get(content) ?? [],
    isSkipped: (path) => skipped.has(path),
    refresh() {
      refreshing ??= lookAgain().finally(() => {
        refreshing = null;
      });
      return refreshing;
    },
    touch(paths) {
      file.change(() => {
        for (const path of paths) {
          const language = languages.get(path) ?? (judgePath(path) === null ? languageOf(path) : null);
          // A file that git ignores is forgotten when all files are listed again.
          if (language !== null && !skipped.has(path)) readOne({ path, language, size: 0, mtimeMs: 0 });
        }
      });
    },
  };
}

/** Limits the compared files: main languages first. */
function takeFirst(
  files: readonly SourceFile[],
  primary: readonly SourceLanguage[],
  most: number,
): SourceFile[] {
  if (files.length <= most) return [...files];
  const counts = new Map<SourceLanguage, number>();
  for (const { language } of files) counts.set(language, (counts.get(language) ?? 0) + 1);
  const rankSource = ({ language }: SourceFile): number =>
    primary.length > 0 ? Number(primary.includes(language)) * files.length : (counts.get(language) ?? 0);
  return files.toSorted((one, other) => rankSource(other) - rankSource(one)).slice(0, most);
}
