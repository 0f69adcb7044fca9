import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { formatCount } from '../../core/base/text.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { SymbolRef } from './rows.ts';

export interface SymbolWish {
  line?: number | undefined;
  path?: string | undefined;
  project?: string | undefined;
  symbol?: string | undefined;
}

export interface SymbolDeps {
  /** The workspace's folder, absolute. */
  root: string;
  paths: Pick<WorkspacePaths, 'statOf'>;
  callerPaths: Pick<CallerPaths, 'resolveShared'>;
  /** Throws `unknown_project`. */
  projectId(id: string): string | null;
  /** Absolute folder of a project. */
  folder(project: string): string;
  /** Returns the location of a project's shared symbol, relative to its folder; otherwise why it is not found, a clause. */
  locateSymbol(symbol: string, project: string | null): Promise<{ path: string; line: number } | string>;
  /** Returns the shared paths of a project, relative to its folder. */
  sharedPaths(project: string | null): readonly string[];
}

/** Larger files are not searched for a line. */
const MAX_BYTES = 16 * 1024 * 1024;

const symbolRefError = (field: string, problem: string): SvcError =>
  new SvcError('fields_invalid', `symbol_ref.${field}: ${problem}`, {
    data: { fields: [{ field: `symbol_ref.${field}`, problem }] },
  });

/**
 * Finds the location that an answer refers to. Throws `fields_invalid`, `path_outside`, `not_found`,
 * `unknown_project`.
 */
export async function resolveSymbolRef(
  wish: SymbolWish,
  caller: Caller,
  deps: SymbolDeps,
): Promise<SymbolRef> {
  if (wish.path !== undefined) return resolvePlace({ ...wish, path: wish.path }, caller, deps);
  if (wish.symbol === undefined) throw symbolRefError('path', 'name the file that the answer refers to');
  const project = wish.project === undefined ? null : deps.projectId(wish.project);
  const found = await deps.locateSymbol(wish.symbol, project);
  if (typeof found === 'string') throw symbolRefError('symbol', `${found}; or name its file`);
  return resolvePlace({ ...wish, ...found }, caller, deps);
}

function resolvePlace(wish: SymbolWish & { path: string }, caller: Caller, deps: SymbolDeps): SymbolRef {
  const project = wish.project === undefined ? null : deps.projectId(wish.project);
  const folder = wish.project === undefined ? deps.root : deps.folder(wish.project);
  const { absolute, key } = deps.callerPaths.resolveShared(
    wish.path.trim() === '' ? wish.path : resolve(folder, wish.path),
    caller,
  );
  if (wish.project !== undefined && !isInProject(folder, absolute)) {
    throw new SvcError(
      'path_outside',
      `${JSON.stringify(wish.path)} is outside the project ${wish.project}`,
      {
        hint: `paths are relative to ${folder}`,
      },
    );
  }
  if (project !== null && project !== caller.project) checkShared(wish.path, folder, absolute, project, deps);
  const stat = deps.paths.statOf(absolute);
  if (!stat?.isFile()) throw new SvcError('not_found', `symbol_ref.path: there is no file ${key}`);
  const symbol = wish.symbol ?? null;
  if (wish.line === undefined && symbol === null) return { path: key, line: null, symbol, project };
  if (stat.size > MAX_BYTES) throw symbolRefError('path', `${key} is too large to find a line in it`);
  const lines = readSource(absolute, key).split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  if (wish.line !== undefined) {
    if (wish.line > lines.length)
      throw symbolRefError('line', `${key} has ${formatCount(lines.length, 'line')}`);
    return { path: key, line: wish.line, symbol, project };
  }
  const at = lines.findIndex((line) => hasWord(line, symbol ?? ''));
  if (at < 0) throw symbolRefError('symbol', `${JSON.stringify(symbol)} does not occur in ${key}`);
  return { path: key, line: at + 1, symbol, project };
}

/** Refuses a file of another project that it does not share, whether it exists or not. */
function checkShared(
  path: string,
  folder: string,
  absolute: string,
  project: string,
  { sharedPaths }: Pick<SymbolDeps, 'sharedPaths'>,
): void {
  const shared = sharedPaths(project);
  if (shared.some((each) => isInProject(resolve(folder, each), absolute))) return;
  throw new SvcError('path_outside', `${project} does not share ${JSON.stringify(path)}`, {
    hint: shared.length === 0 ? `${project} shares no paths` : `shared there: ${shared.join(', ')}`,
  });
}

function readSource(absolute: string, key: string): string {
  try {
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    throw symbolRefError('path', `${key} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function isInProject(folder: string, absolute: string): boolean {
  let real = folder;
  try {
    real = realpathSync.native(folder);
  } catch {
    // A missing project folder contains nothing.
  }
  return isInsideFolder(real, absolute);
}

/** Reports whether the text occurs with no letter, digit, `_` or `$` right before or after it. */
function hasWord(line: string, word: string): boolean {
  const isWordCharacter = (letter: string): boolean => /[\p{L}\p{N}_$]/u.test(letter);
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    if (!isWordCharacter(line.charAt(at - 1)) && !isWordCharacter(line.charAt(at + word.length))) return true;
  }
  return false;
}
