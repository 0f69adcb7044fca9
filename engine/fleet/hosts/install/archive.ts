import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { SvcError } from '../../../core/base/errors.ts';
import { findProgram } from '../../../core/base/find-program.ts';
import type { ProgramFiles } from './list-program.ts';
import { COMPLETE_FILE } from './scripts.ts';

/** Fast: the line is rarely slower than a higher level. */
const LEVEL = 1;

export interface Archive {
  /** The tar stream, compressed if asked. */
  stream: Readable;
  /** Bytes read so far. */
  countSent(): number;
  /** Ends tar if it still runs, and removes its temporary folder. */
  close(): void;
}

/** Makes a tar stream of the files, whose last entry proves that all others have arrived. Throws `tool_missing`. */
export function openArchive(
  { files, name }: ProgramFiles,
  { environment, isCompressed }: { environment: NodeJS.ProcessEnv; isCompressed: boolean },
): Archive {
  const tar = findProgram('tar', { cwd: '/', path: environment.PATH });
  if (tar === undefined)
    throw new SvcError('tool_missing', 'tar was not found on PATH', { hint: 'install it' });
  const folder = mkdtempSync(join(tmpdir(), 'svc-program-'));
  const staged = join(folder, 'files');
  mkdirSync(staged);
  for (const file of files) {
    const place = join(staged, file.name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(file.source, place);
  }
  writeFileSync(join(staged, COMPLETE_FILE), `${name}\n`);
  // Not by -T, which some builds of busybox lack.
  const names = readdirSync(staged).filter((name) => name !== COMPLETE_FILE);
  const child = spawn(tar, ['-c', '-h', '-f', '-', '-C', staged, ...names, COMPLETE_FILE], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-1000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (detail: string): void =>
      reject(new SvcError('program_failed', `tar could not read the program: ${detail.trim()}`));
    child.once('error', (error) => fail(error.message));
    child.once('close', (code) => (code === 0 ? resolve() : fail(said || `exit code ${code}`)));
  });
  ended.catch(() => undefined);

  let sent = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      done(null, chunk);
    },
    // Ends with tar's failure, so that a short archive is not taken for a whole one.
    flush: (done) => void ended.then(() => done(), done),
  });
  // A failure reaches the reader as the error of the last stream.
  const zip = isCompressed ? [createGzip({ level: LEVEL })] : [];
  pipeline([child.stdout, ...zip, stream]).catch(() => undefined);
  return {
    stream,
    countSent: () => sent,
    close() {
      stream.destroy();
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
