import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { resolveMachineHome } from '../../core/workspace/machine-home.ts';
import { findPreset } from '../../workers/agents/presets/index.ts';

/** The digests of commands that the person of this machine has agreed to. */
const trusted = z.array(z.string().regex(/^[0-9a-f]{16}$/)).max(10_000);

const MOST_BYTES = 1024 * 1024;

const trustedFile = (env: NodeJS.ProcessEnv): string => join(resolveMachineHome(env), 'runner-trusted.json');

function readTrusted(env: NodeJS.ProcessEnv): string[] {
  try {
    return trusted.parse(JSON.parse(readPrivate(trustedFile(env), MOST_BYTES) ?? '[]'));
  } catch {
    // An unreadable file allows nothing.
    return [];
  }
}

/** Returns the digest by which commands are agreed to: 16 hexadecimal digits. */
const digestCommands = (commands: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(commands)).digest('hex').slice(0, 16);

/** Agrees to commands of boards by their digest. Throws `usage` for anything else. */
export function trustCommands(digest: string, env: NodeJS.ProcessEnv): void {
  if (!/^[0-9a-f]{16}$/.test(digest))
    throw new SvcError('usage', `${JSON.stringify(digest)} is not a digest`, {
      hint: 'the failure of a run names it: 16 hexadecimal digits',
    });
  replacePrivate(trustedFile(env), JSON.stringify([...new Set([...readTrusted(env), digest])]), {
    isDurable: true,
  });
}

/**
 * Checks commands of a board that has no shell here anyway: only those that svc knows itself, or that the person of this
 * machine has agreed to. Throws `trust_missing` with their digest.
 */
export function checkTrusted(what: string, commands: readonly string[], env: NodeJS.ProcessEnv): void {
  if (commands.length === 0) return;
  const digest = digestCommands(commands);
  if (readTrusted(env).includes(digest)) return;
  throw new SvcError(
    'trust_missing',
    `the person of this machine has not agreed to ${what}: ${commands.join('; ').slice(0, 500)}`,
    { hint: `on that machine: svc runner trust ${digest}` },
  );
}

/** Checks the command of an agent in the same way. */
export function checkAgentCommand(
  agent: string,
  { transport, template }: { transport: 'subprocess' | 'acp'; template: string },
  env: NodeJS.ProcessEnv,
): void {
  const preset = findPreset(agent);
  if (template === (transport === 'acp' ? preset?.acp : preset?.headless)) return;
  checkTrusted(`the command of ${agent}`, [template], env);
}
