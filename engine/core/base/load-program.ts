import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';

// Imports no other file of ours: every program calls this before its own code is loaded.

/** The start of a kept file: V8 itself compares neither the source, besides its length, nor the bytes of the code. */
const HEADER_BYTES = 128;
/** When most of a start has run. Later V8 forgets functions that no longer run. */
const KEEP_AFTER_MS = 2000;

export interface ProgramPlace {
  /** The folder of the built files. */
  folder: string;
  /** Identifies the content of all built files. */
  build: string;
  /** A private folder for compiled code; null keeps none. */
  kept: string | null;
  /** The kind of start: each kind keeps the functions that it runs. */
  start: string;
}

interface BuiltModule {
  exports: Record<string, unknown>;
}

type BuiltCode = (
  exports: BuiltModule['exports'],
  require: (id: string) => unknown,
  module: BuiltModule,
  filename: string,
  dirname: string,
) => void;

/**
 * Runs a built program, and returns its exports. Keeps the compiled code of the functions that it has run:
 * Node's own cache is written before a file runs, so each start compiles most functions again.
 */
export function loadProgram(
  name: string,
  { folder, build, kept, start }: ProgramPlace,
): BuiltModule['exports'] {
  const header = Buffer.alloc(HEADER_BYTES, ' ');
  header.write(`${build} ${process.version} ${process.arch}`);
  const requireOther = createRequire(join(folder, name));
  const modules = new Map<string, BuiltModule>();
  const compiled: { file: string; script: Script }[] = [];

  function loadFile(id: string): BuiltModule['exports'] {
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const filename = join(folder, id);
    const file = kept === null ? null : join(kept, `${start}.${id}`);
    const cachedData = file === null ? undefined : readKeptCode(file, header);
    const script = new Script(readWrapped(filename), {
      filename,
      lineOffset: -1,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (file !== null && script.cachedDataRejected !== false) compiled.push({ file, script });
    const module: BuiltModule = { exports: {} };
    modules.set(id, module);
    (script.runInThisContext() as BuiltCode)(module.exports, requireFile, module, filename, folder);
    return module.exports;
  }
  // All built files are in one folder, and name each other in one way.
  const requireFile = (id: string): unknown =>
    id.startsWith('./') ? loadFile(id.slice(2)) : requireOther(id);

  const keepCompiled = (): void => {
    for (const { file, script } of compiled.splice(0)) keepCode(file, header, script.createCachedData());
  };
  setTimeout(keepCompiled, KEEP_AFTER_MS).unref();
  process.once('exit', keepCompiled);
  return loadFile(name);
}

const OPENING = Buffer.from('(function (exports, require, module, __filename, __dirname) {\n');
const CLOSING = Buffer.from('\n})');

/** Reads a file as a function, in ASCII as the build wrote it. Joined as text, each source would be in memory twice. */
const readWrapped = (filename: string): string =>
  Buffer.concat([OPENING, readFileSync(filename), CLOSING]).toString('latin1');

function readKeptCode(file: string, header: Buffer): Buffer | undefined {
  try {
    const data = readFileSync(file);
    return header.equals(data.subarray(0, HEADER_BYTES)) ? data.subarray(HEADER_BYTES) : undefined;
  } catch {
    return undefined; // not yet kept
  }
}

/** Writes the file at once: V8 would run half of one. Without it the next start is slower. */
function keepCode(file: string, header: Buffer, code: Buffer): void {
  const own = `${file}.${process.pid}`;
  try {
    const fd = openSync(own, 'w', 0o600);
    try {
      writeSync(fd, header);
      writeSync(fd, code);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(own, file);
  } catch {
    // The disk is full, or the folder was removed.
  }
}

/** Creates the folder for compiled code of one installation; null if it cannot be created. */
export function makeKeptFolder(cache: string | null, installed: string): string | null {
  if (cache === null) return null;
  const folder = join(cache, encodeURIComponent(installed).slice(-200));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return null;
  }
}
