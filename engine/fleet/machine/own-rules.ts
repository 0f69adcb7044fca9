import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import { readPrivate } from '../../core/base/private-files.ts';
import { resolveMachineHome } from '../../core/workspace/machine-home.ts';

/** The limits that the person of this machine sets to every order of the board: `runner.yaml` of the machine home. */
const rules = z.strictObject({
  /** The agents that may run here; all by default. */
  agents: z.array(z.string().min(1)).nullable().default(null),
  /** The most workers at a time; as the board decides by default. */
  max: z.int().min(0).max(1000).nullable().default(null),
  /** The weakest guard profile of a worker here. */
  profile: z.enum(['none', 'lite', 'strict']).default('none'),
  /** By project: the folder of this machine with its `env_files`. */
  env: z.record(z.string(), z.string().regex(/^\//, 'expected an absolute folder')).default({}),
});

export type OwnRules = z.output<typeof rules>;

const MOST_BYTES = 64 * 1024;

/** Reads the rules of this machine's person. Throws `config_invalid`: rules that cannot be read allow nothing. */
export function readOwnRules(env: NodeJS.ProcessEnv): OwnRules {
  const file = join(resolveMachineHome(env), 'runner.yaml');
  let content: unknown;
  try {
    content = parse(readPrivate(file, MOST_BYTES) ?? '') ?? {};
  } catch (error) {
    throw new SvcError(
      'config_invalid',
      `${file} cannot be read: ${(error as Error).message.split('\n')[0]}`,
    );
  }
  const { success, data, error } = rules.safeParse(content);
  if (success) return data;
  const [issue] = error.issues;
  throw new SvcError(
    'config_invalid',
    `${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
  );
}
