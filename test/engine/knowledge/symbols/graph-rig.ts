import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { createGraph, type Graph } from '../../../../engine/knowledge/symbols/index.ts';
import { createIndexer, type FileIndexer } from '../../../../engine/knowledge/symbols/index-files/indexer.ts';
import { SYMBOL_COLUMNS, toEdge, toSymbol } from '../../../../engine/knowledge/symbols/store/rows.ts';
import { gitEnvironment, openTestGit, temporaryFolder } from '../../../support/workspaces/git.ts';

export type Files = Readonly<Record<string, string>>;

export interface IndexedProject {
  root: string;
  indexer: FileIndexer;
  write(files: Files): void;
  remove(path: string): void;
  /** Builds a new index of the same files. */
  fresh(): FileIndexer;
  close(): Promise<void>;
}

/** A project with its index; `refresh` reads the files. */
export function makeProject(files: Files): IndexedProject {
  const folder = temporaryFolder();
  const root = join(folder, 'project');
  mkdirSync(root);
  execFileSync('git', ['init', '-q'], { cwd: root, env: gitEnvironment() });
  let made = 0;
  const open = (): FileIndexer => {
    made += 1;
    const file = join(folder, `graph-${made}.db`);
    return createIndexer({ root, file, git: openTestGit(), parsers: {}, without: [] });
  };
  const write = (some: Files): void => {
    for (const [path, text] of Object.entries(some)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  write(files);
  const indexer = open();
  return {
    root,
    indexer,
    write,
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    fresh: open,
    async close() {
      await indexer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns every edge as `a.ts:f -> b.ts:g call 1.0`, sorted: equal for two indexes of the same files. */
export function listEdges({ db }: Pick<FileIndexer, 'db'>, kinds: readonly string[] | null = null): string[] {
  const rows = db
    .prepare(`SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file`)
    .all()
    .map(toSymbol);
  const names = new Map(
    rows.map(
      ({ id, path, qualified, kind }) => [id, kind === 'file' ? path : `${path}:${qualified}`] as const,
    ),
  );
  return db
    .prepare('SELECT * FROM edge')
    .all()
    .map(toEdge)
    .filter(({ kind }) => kinds === null || kinds.includes(kind))
    .map(
      (edge) =>
        `${names.get(edge.fromSymbol)} -> ${names.get(edge.toSymbol)} ${edge.kind} ${edge.confidence.toFixed(1)}`,
    )
    .sort();
}

/** Returns the edges in the file of an index that is open elsewhere. */
export function readEdges(file: string): string[] {
  const db = new Database(file, { readonly: true });
  try {
    return listEdges({ db });
  } finally {
    db.close();
  }
}

/** Returns the calls of a project that is indexed once. */
export async function listCalls(files: Files): Promise<string[]> {
  const project = makeProject(files);
  try {
    await project.indexer.refresh();
    return listEdges(project.indexer, ['call', 'new', 'jsx']);
  } finally {
    await project.close();
  }
}

/** The graph of a project alone, as used by tools and commands. */
export const openGraph = (
  { root }: Pick<IndexedProject, 'root'>,
  { isExact = false, leastPauseMs }: { isExact?: boolean; leastPauseMs?: number } = {},
): Graph =>
  createGraph({
    data: join(root, '..'),
    git: { env: gitEnvironment(), agentsDir: null },
    settings: () => ({
      parsers: {},
      without: [],
      exact: { isOn: isExact, mustConfine: false },
      shared: new Map(),
    }),
    folder: () => root,
    sessionOf: () => null,
    ...(leastPauseMs === undefined ? {} : { leastPauseMs }),
  });
