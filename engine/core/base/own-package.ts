import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The entry modules of processes, threads and public imports. The build creates one file for each, and files of shared code. */
export const PROGRAMS = {
  svc: 'cli/svc.ts',
  'run-command': 'cli/run-command.ts',
  'run-hook': 'cli/hooks/run.ts',
  engine: 'engine/index.ts',
  supervisor: 'engine/daemon/supervisor.ts',
  gateway: 'engine/gateway/server/main.ts',
  'shortening-thread': 'engine/gateway/live-zone/shortening-thread.ts',
  'shorten-output': 'engine/knowledge/context/shorten-output.ts',
  'graph-thread': 'engine/knowledge/symbols/graph-thread.ts',
  'parse-worker': 'engine/knowledge/symbols/index-files/parse-worker.ts',
  'compiler-process': 'engine/knowledge/symbols/exact/compiler-process.ts',
  'guard-thread': 'engine/knowledge/guard/thread/main.ts',
  'demo-agent': 'cli/commands/demo/demo-agent.ts',
} as const;

export type ProgramName = keyof typeof PROGRAMS;

/** The folder of the built programs, below the package folder. */
export const PROGRAMS_FOLDER = 'dist/bin';
/** The folder of the grammars of the code graph. */
export const GRAMMARS_FOLDER = 'dist/grammars';
/** The folder of the words for the search of memories: synonyms and vectors. */
export const WORDS_FOLDER = 'dist/words';

/** Reads package.json, which is two folders above the programs, three above this file, and four above this file as compiled. */
function readOwnPackage(): { folder: URL; version: string } {
  for (const up of ['../../', '../../../', '../../../../']) {
    try {
      const folder = new URL(up, import.meta.url);
      const text = readFileSync(new URL('package.json', folder), 'utf8');
      const { bin, version } = JSON.parse(text) as { bin?: { svc?: string }; version?: string };
      // By its command: the name of the package belongs to those who publish it.
      if (bin?.svc !== undefined && version !== undefined) return { folder, version };
    } catch {
      // Missing: try the next.
    }
  }
  throw new Error('package.json of svc is missing');
}

const own = readOwnPackage();

export const { version } = own;

/** Returns the built file of a program, also for code that itself runs from elsewhere. */
export const locateProgram = (name: ProgramName): string =>
  fileURLToPath(new URL(`${PROGRAMS_FOLDER}/${name}.js`, own.folder));

/** Returns a built file of words. */
export const locateWords = (name: 'synonyms.txt' | 'english.vectors'): string =>
  fileURLToPath(new URL(`${WORDS_FOLDER}/${name}`, own.folder));

/** Returns the built grammar of a language, compressed by gzip, by its name. */
export const locateGrammar = (language: string): string =>
  fileURLToPath(new URL(`${GRAMMARS_FOLDER}/${language}.wasm.gz`, own.folder));
