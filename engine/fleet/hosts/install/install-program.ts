import { dirname } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { version } from '../../../core/base/own-package.ts';
import { quoteForShell } from '../../../core/base/text.ts';
import type { HostFacts } from '../inspect/parse-facts.ts';
import { type HostAddress, nameHost, quoteLastLines, unreachableError } from '../transport/address.ts';
import type { HostOptions } from '../transport/open-on-host.ts';
import { type HostResult, runOnHost } from '../transport/run-on-host.ts';
import { type InstallAnswer, parseAnswer, readFreeBytes } from './answer.ts';
import { openArchive } from './archive.ts';
import { checkKind, chooseNode, unsupportedError } from './choose-node.ts';
import { CARRIED_NODE, listProgram, type ProgramFiles } from './list-program.ts';
import { buildPlaceScript, buildPrepareScript, type InstallFacts } from './scripts.ts';

export interface InstalledProgram {
  /** POSIX sh words that run svc there: absolute and quoted. */
  command: string;
  folder: string;
  sentBytes: number;
  /** False if this version was there already. */
  isNew: boolean;
}

/** Time in which the host must accept some of the copy, or give its answer. */
const SILENCE_MS = 120_000;

/**
 * Installs this same program on the host, below the data folder of its person, unless it is there; nothing else is
 * changed. Rejects with `runner_unsupported`, `storage_full`, `tool_missing`, and as `openOnHost`.
 */
export async function installProgram(
  address: HostAddress,
  facts: HostFacts,
  options: HostOptions,
): Promise<InstalledProgram> {
  if (facts.svc?.version === version) return describeOwn(facts.svc.path, facts.searchPath);
  checkKind(address, facts);
  const node = chooseNode(facts);
  const program = await listProgram({ withNode: node === null });
  const install = { name: program.name, version, node, carriedNode: CARRIED_NODE, isCompressed: false };
  const limits = { ...options, timeoutMs: SILENCE_MS };
  const prepared = parseAnswer(address, await runOnHost(address, buildPrepareScript(install), limits));
  const folder = checkFolder(address, program, prepared);
  const describe = (sentBytes: number, isNew: boolean): InstalledProgram => ({
    command: [node ?? `${folder}/${CARRIED_NODE}`, `${folder}/dist/bin/svc.js`].map(quoteForShell).join(' '),
    folder,
    sentBytes,
    isNew,
  });
  if (prepared.there === 'yes') return describe(0, false);
  const free = readFreeBytes(prepared);
  if (free !== null && free < program.bytes) throw fullError(address, free, program.bytes);
  if (prepared.tar !== 'yes')
    throw new SvcError('tool_missing', `tar was not found on ${nameHost(address)}`, {
      hint: 'install it there',
    });
  const { result, sentBytes } = await sendProgram(address, program, limits, {
    ...install,
    isCompressed: prepared.gzip === 'yes',
  });
  const answer = parseAnswer(address, result);
  if (answer.placed === undefined) throw explainFailure(address, program, answer, result);
  return describe(sentBytes, answer.placed === 'new');
}

/** Describes a program that the person has installed there, with the search path of its shell: it may need Node from it. */
const describeOwn = (path: string, searchPath: string): InstalledProgram => ({
  command: `env ${quoteForShell(`PATH=${searchPath}`)} ${quoteForShell(path)}`,
  folder: dirname(path),
  sentBytes: 0,
  isNew: false,
});

/** Returns the folder of the program as the host names it. Throws `runner_unreachable` for any other folder. */
function checkFolder(
  address: HostAddress,
  { name }: ProgramFiles,
  { failed, folder }: InstallAnswer,
): string {
  if (failed === 'home')
    throw unreachableError(address, `${nameHost(address)} gives the login no home folder`);
  if (folder?.endsWith(`/svc/runner/programs/${name}`)) return folder;
  throw unreachableError(address, `${nameHost(address)} names a wrong folder for the program`);
}

async function sendProgram(
  address: HostAddress,
  program: ProgramFiles,
  options: HostOptions & { timeoutMs: number },
  install: InstallFacts,
): Promise<{ result: HostResult; sentBytes: number }> {
  const archive = openArchive(program, {
    environment: options.environment,
    isCompressed: install.isCompressed,
  });
  try {
    const script = buildPlaceScript(install);
    const result = await runOnHost(address, script, { ...options, input: archive.stream });
    return { result, sentBytes: archive.countSent() };
  } finally {
    archive.close();
  }
}

const showMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

const fullError = (address: HostAddress, free: number, needed: number): SvcError =>
  new SvcError(
    'storage_full',
    `${nameHost(address)} has ${showMegabytes(free)} free, and svc needs ${showMegabytes(needed)} there`,
    {
      hint: 'free some space there, or set XDG_DATA_HOME there to a folder on another disk',
      data: { free_bytes: free, needed_bytes: needed },
    },
  );

/** Builds the error for a copy that was not placed; nothing of it is left. */
function explainFailure(
  address: HostAddress,
  { bytes }: ProgramFiles,
  answer: InstallAnswer,
  { stderr }: HostResult,
): SvcError {
  const said = quoteLastLines(stderr);
  const detail = said === '' ? '' : `: ${said}`;
  if (answer.failed === 'node') return unsupportedError(address, `Node does not run there${detail}`);
  if (answer.failed === 'program' || answer.failed === 'packages')
    return unsupportedError(address, `the copy does not run there${detail}`);
  if (/No space left on device|Disk quota exceeded|No space left/i.test(stderr))
    return fullError(address, readFreeBytes(answer) ?? 0, bytes);
  return new SvcError('program_failed', `svc could not be copied to ${nameHost(address)}${detail}`, {
    hint: 'correct what the message names, and try again',
  });
}
