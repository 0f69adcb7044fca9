import { relative, sep } from 'node:path';
import type { PlannedWrite } from '../../../bus/hooks/index.ts';
import {
  createLanguageTable,
  judgePath,
  judgeText,
  readSource,
  type SourceLanguage,
} from '../../sources/index.ts';
import { type PreparedCode, readCode } from '../code/read-code.ts';
import { findSyntax } from '../code/syntaxes.ts';
import { type FoundCopy, findCopies } from '../copies/find-copies.ts';
import { findNewLines, markNewTokens } from '../copies/introduced.ts';
import type { CopyType } from '../copies/judge.ts';
import type { CopySettings } from '../copies/settings.ts';
import type { PrintedProjects, ProjectPrints } from '../fingerprints/project-prints.ts';
import { checkLanguage, type LanguageFinding } from '../language/check-language.ts';
import { isDocument, type WantedLanguages } from '../language/wanted-languages.ts';
import { applyWrite } from './apply-write.ts';

/** The checks for a text. */
export interface WantedChecks {
  copies: boolean;
  languages: WantedLanguages;
}

/** A request to check a write before it happens. */
export interface WriteCheck {
  /** The absolute folder of the project, or of its worktree. */
  root: string;
  writes: readonly CheckedWrite[];
  wanted: WantedChecks;
  /** Time limit in ms; null for none. */
  budgetMs: number | null;
}

/** Without a text and edits, the file is checked as it is. Paths are absolute, or relative to the checked folder. */
export interface CheckedWrite extends PlannedWrite {
  /** The previous content of the file; read from disk if omitted. Null for none. */
  before?: string | null;
}

/** New code that also exists elsewhere in the project. Paths are relative to its folder. */
export interface CopyFinding {
  path: string;
  /** Lines, from 1, of the future file. */
  from: number;
  to: number;
  /** The enclosing function. */
  name: string | null;
  type: CopyType;
  tokens: number;
  /** Its share of the function, 0 to 1. */
  coverage: number;
  /** The existing code. */
  original: { path: string; from: number; to: number; name: string | null; excerpt: string };
  /** Further places with the same code. */
  others: string[];
}

export interface WriteReport {
  copies: CopyFinding[];
  languages: LanguageFinding[];
  /** True if not everything was compared: the time was over, or files were not read yet. */
  isPartial: boolean;
  /** Number of checked files. */
  files: number;
  /** Files that were not compared from a line on, because a literal or comment that starts there has no end. */
  lost: { path: string; line: number }[];
}

const MOST_EXCERPT_LINES = 6;
const LONGEST_LINE = 120;
const MOST_OTHERS = 3;
/** Maximum places of one content. */
const MOST_PLACES_TRIED = 8;
const MOST_FINDINGS = 50;
/** Texts that stay cached, since consecutive writes often share candidates. */
const MOST_READ = 100;

/** Compares a write with the files of its project. */
export function createWriteChecks({
  projects,
  settings,
  parsers,
}: {
  projects: PrintedProjects;
  settings: CopySettings;
  parsers: Readonly<Record<string, string>>;
}): (check: WriteCheck) => WriteReport {
  const languageOf = createLanguageTable(parsers);
  const read = new Map<string, PreparedCode>();

  function readKnown(root: string, path: string): PreparedCode | null {
    const language = languageOf(path);
    const source = readSource(root, path);
    if (language === null || typeof source === 'string') return null;
    const key = `${language} ${source.hash}`;
    const found = read.get(key) ?? readCode(source.text, findSyntax(language));
    read.delete(key);
    read.set(key, found);
    const [oldest] = read.keys();
    if (read.size > MOST_READ && oldest !== undefined) read.delete(oldest);
    return found;
  }

  /** Returns the future content of a file that the same call changes: a moved function exists once afterwards. */
  function readPlanned(root: string, path: string, write: CheckedWrite): PreparedCode | null {
    const language = languageOf(path);
    const before = write.before === undefined ? readOnDisk(root, path) : write.before;
    const text = before === undefined ? null : applyWrite(write, before);
    return language === null || text === null ? null : readCode(text, findSyntax(language));
  }

  function checkOne(
    project: ProjectPrints,
    { path, language, write, gone, planned }: OwnWrite,
    wanted: WantedChecks,
    isLate: () => boolean,
  ): Omit<WriteReport, 'files'> {
    const { root } = project;
    const nothing = { copies: [], languages: [], isPartial: false, lost: [] };
    const before = write.before === undefined ? readOnDisk(root, path) : write.before;
    if (before === undefined) return nothing;
    const isOnDisk = write.text === undefined && write.edits === undefined;
    const text = isOnDisk ? (readOnDisk(root, path) ?? null) : applyWrite(write, before);
    if (text === null || judgeText(text) !== null) return nothing;
    const newLines = findNewLines(before, text);
    const languages = checkLanguage({ path, text, language }, newLines, wanted.languages, isLate);
    if (language === null || !wanted.copies) return { ...nothing, languages };
    const mine = readCode(text, findSyntax(language));
    const isNew = markNewTokens(mine.tokens, newLines);
    const places = new Map<number, { path: string; code: PreparedCode }>();
    const openText = (content: number): PreparedCode | null => {
      const others = project.pathsOf(content).filter((each) => each !== path && !gone.has(each));
      // Some of them may have been removed since they were read.
      for (const each of others.slice(0, MOST_PLACES_TRIED)) {
        const other = planned.get(each);
        const code = other === undefined ? readKnown(root, each) : readPlanned(root, each, other);
        if (code === null) continue;
        places.set(content, { path: each, code });
        return code;
      }
      return null;
    };
    const { copies, isPartial } = findCopies(mine, isNew, {
      index: projects.index,
      settings,
      open: openText,
      isLate,
    });
    const { lostAt } = mine.tokens;
    const lost = lostAt === null ? [] : [{ path, line: lostAt }];
    return { copies: groupCopies(path, copies, places), languages, isPartial, lost };
  }

  return ({ root, writes, wanted, budgetMs }) => {
    const end = budgetMs === null ? Number.POSITIVE_INFINITY : performance.now() + budgetMs;
    const isLate = (): boolean => performance.now() > end;
    const project = projects.open(root);
    const own = listOwn(project, writes, languageOf);
    const copies: CopyFinding[] = [];
    const languages: LanguageFinding[] = [];
    const lost: WriteReport['lost'] = [];
    let isPartial = false;
    let files = 0;
    for (const each of own) {
      if (isLate() || copies.length >= MOST_FINDINGS) {
        isPartial = true;
        break;
      }
      const done = checkOne(project, each, wanted, isLate);
      copies.push(...done.copies);
      languages.push(...done.languages);
      lost.push(...done.lost);
      isPartial ||= done.isPartial || (wanted.copies && each.language !== null && !project.isWhole);
      files += 1;
    }
    return { copies, languages, isPartial, files, lost };
  };
}

interface OwnWrite {
  path: string;
  /** Null for a document. */
  language: SourceLanguage | null;
  write: CheckedWrite;
  /** Paths that the same call removes: a move is not a copy. */
  gone: ReadonlySet<string>;
  /** All writes of the same call, by path. */
  planned: ReadonlyMap<string, CheckedWrite>;
}

/** Returns the writes that create code or documents of the project. */
function listOwn(
  { root, isSkipped }: ProjectPrints,
  writes: readonly CheckedWrite[],
  languageOf: (path: string) => SourceLanguage | null,
): OwnWrite[] {
  const named = writes.map((write) => ({
    write,
    path: (write.path.startsWith(sep) ? relative(root, write.path) : write.path).split(sep).join('/'),
  }));
  const gone = new Set(named.filter(({ write }) => write.removed === true).map(({ path }) => path));
  const planned = new Map(named.map(({ path, write }) => [path, write]));
  return named.flatMap(({ path, write }) => {
    const language = languageOf(path);
    if (path.startsWith('../') || gone.has(path) || (language === null && !isDocument(path))) return [];
    if (judgePath(path) !== null || isSkipped(path)) return [];
    return [{ path, language, write, gone, planned }];
  });
}

/** Returns the content of a file; null if it does not exist, undefined if it is excluded. */
function readOnDisk(root: string, path: string): string | null | undefined {
  const source = readSource(root, path);
  if (typeof source !== 'string') return source.text;
  return source === 'gone' ? null : undefined;
}

/** Keeps one finding for each place in the new text, with the best original. */
function groupCopies(
  path: string,
  copies: readonly FoundCopy[],
  places: ReadonlyMap<number, { path: string; code: PreparedCode }>,
): CopyFinding[] {
  const found: CopyFinding[] = [];
  for (const copy of copies) {
    const place = places.get(copy.text);
    if (place === undefined) continue;
    const same = found.find((each) => sharesLines(each, copy));
    if (same !== undefined) {
      const other = `${place.path}:${copy.theirFrom}`;
      if (same.others.length < MOST_OTHERS) same.others.push(other);
      continue;
    }
    const { from, to, name, type, tokens, coverage } = copy;
    found.push({
      path,
      from,
      to,
      name,
      type,
      tokens,
      coverage: Math.round(coverage * 100) / 100,
      original: {
        path: place.path,
        from: copy.theirFrom,
        to: copy.theirTo,
        name: copy.theirName,
        excerpt: cutExcerpt(place.code.text, copy.theirFrom, copy.theirTo),
      },
      others: [],
    });
  }
  return found;
}

/** Reports whether half of the smaller one is in both. */
function sharesLines(one: { from: number; to: number }, other: { from: number; to: number }): boolean {
  const shared = Math.min(one.to, other.to) - Math.max(one.from, other.from) + 1;
  return shared * 2 >= Math.min(one.to - one.from, other.to - other.from) + 1;
}

function cutExcerpt(text: string, from: number, to: number): string {
  const lines = text.split('\n', to).slice(from - 1);
  return lines
    .slice(0, MOST_EXCERPT_LINES)
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line).toWellFormed())
    .join('\n');
}
