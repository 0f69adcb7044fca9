// A separate process that runs the project's own compiler: it loads nothing of svc, and its answers are only trusted
// for places that the index knows.
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ProjectCompiler } from './compiler.ts';
import { createReferenceFinder, type FileReferences } from './find-references.ts';
import { openLibrary } from './javascript-compiler.ts';
import { type NativeApi, openNative } from './native-compiler.ts';

/** The request of the process, as JSON on its standard input. All paths are absolute, with links resolved. */
export interface CompilerOrder {
  root: string;
  /** The folder of the package `typescript`. */
  compiler: string;
  /** All sources of the project. */
  files: readonly string[];
  /** The sources whose references are requested. */
  wanted: readonly string[];
}

/** The answers of the process, one line of JSON each. */
export type CompilerLine = { file: FileReferences } | { done: number } | { failed: string };

/** File descriptor of the answers, because a compiler may print to standard output. */
const ANSWERS = 3;

function sendCompilerLine(line: CompilerLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(ANSWERS, bytes, at);
}

function openCompiler({ compiler, root }: CompilerOrder): ProjectCompiler {
  const load = createRequire(import.meta.url);
  const { version, exports: named } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8')) as {
    version: string;
    exports?: Record<string, string>;
  };
  if (Number.parseInt(version, 10) < 7)
    return openLibrary(load(join(compiler, 'lib', 'typescript.js')), root);
  const loadCompiler = (name: string): unknown => {
    const path = named?.[name];
    if (typeof path !== 'string') throw new Error(`typescript ${version} has no ${name}`);
    return load(join(compiler, path));
  };
  const [api, tree] = [loadCompiler('./unstable/sync'), loadCompiler('./unstable/ast')];
  return openNative(api as NativeApi, (tree as { SyntaxKind: Record<string, number> }).SyntaxKind, root);
}

async function runRequests(): Promise<void> {
  const order = JSON.parse(await text(process.stdin)) as CompilerOrder;
  const own = new Set(order.files);
  const wanted = new Set(order.wanted);
  const compiler = openCompiler(order);
  const readFile = createReferenceFinder(compiler, (path) => own.has(path));
  let done = 0;
  for (const program of compiler.programs(order.files))
    for (const path of program.files) {
      if (!wanted.has(path)) continue;
      const file = readFile(program, path);
      if (file !== null) sendCompilerLine({ file });
      done += 1;
    }
  compiler.close();
  sendCompilerLine({ done });
}

runRequests().catch((error: unknown) => {
  sendCompilerLine({ failed: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
});
