import { z } from 'zod';
import type { WantedAgent } from './inspect-script.ts';

/** The facts that another machine has reported. Every text is the machine's own claim. */
export interface HostFacts {
  /** As `uname -s` and `uname -m` name them. */
  system: string;
  processor: string;
  libc: 'glibc' | 'musl' | null;
  home: string;
  shell: string;
  /** PATH of the person's login shell. */
  searchPath: string;
  /** The program itself, not a shim of a version manager. */
  node: { path: string; version: string } | null;
  git: string | null;
  svc: { path: string; version: string } | null;
  /** The wanted agents that are installed. */
  agents: HostAgent[];
  /** True if bubblewrap is installed. */
  bubblewrap: boolean;
  /** True if it could create a sandbox in a trial. */
  sandbox: boolean;
  /** Below the folder for programs. */
  diskFreeBytes: number | null;
  /** True if the person's processes outlive their logins; null where systemd does not decide. */
  linger: boolean | null;
  /** 0 if unknown, as is memoryBytes. */
  cpuCount: number;
  memoryBytes: number;
}

export interface HostAgent {
  name: string;
  path: string;
  version: string | null;
  /** Null if no file of a login is known. */
  loggedIn: boolean | null;
}

const MOST_LINES = 500;
const word = z.string().regex(/^[\w.-]{1,64}$/);
const path = z.string().regex(/^\/[^\0-\x1f\x7f]{0,4095}$/);
const count = z
  .string()
  .regex(/^\d{1,12}$/)
  .transform(Number);
const yes = z.literal('yes').optional();

const facts = z.strictObject({
  system: word,
  processor: word,
  libc: z.enum(['glibc', 'musl']).optional(),
  home: path,
  shell: path,
  searchPath: z.string().regex(/^[^\0-\x1f\x7f]{0,32768}$/),
  node: z
    .string()
    .regex(/^\/[^\0-\x1f\x7f]{0,4095}:v\d{1,4}\.\d{1,4}\.\d{1,4}[\w.-]{0,40}$/)
    .optional(),
  git: z.string().max(200).optional(),
  svc: path.optional(),
  svcVersion: z.string().max(200).optional(),
  bubblewrap: yes,
  sandbox: yes,
  freeKilobytes: count.optional(),
  linger: z.enum(['yes', 'no']).optional(),
  // Systems other than Linux do not show them in the same way.
  processors: count.prefault('0'),
  memoryKilobytes: count.prefault('0'),
});

const agent = z.tuple([count, z.enum(['yes', 'no', '']), z.string().max(200), path]);

/** Throws with a sentence that names the invalid value. */
function invalid(what: string): never {
  throw new Error(what);
}

/** Finds the first version in what a program printed. */
const findVersion = (text: string | undefined): string | null =>
  /\d{1,6}(?:\.\d{1,6}){1,3}(?:-[\w.]{1,40})?/.exec(text ?? '')?.[0] ?? null;

/** Parses the output of the script. Throws an Error with a sentence for anything that the script would not print. */
export function parseFacts(output: string, wanted: readonly WantedAgent[]): HostFacts {
  const lines = output.split('\n').filter((line) => line !== '');
  if (lines.length > MOST_LINES) invalid('too many lines');
  const values: Record<string, string> = Object.create(null);
  const agents = new Map<number, HostAgent>();
  for (const line of lines) {
    const [key = '', ...rest] = line.split('\t');
    if (key === 'agent') {
      const parsed = agent.safeParse(rest);
      if (!parsed.success) return invalid(`an agent as "${line.slice(0, 100)}"`);
      const [number, login, version, found] = parsed.data;
      const known = wanted[number];
      if (known === undefined || agents.has(number)) return invalid(`an unknown agent ${number}`);
      agents.set(number, {
        name: known.name,
        path: found,
        version: findVersion(version),
        loggedIn: login === '' ? null : login === 'yes',
      });
    } else if (rest.length !== 1 || key in values) invalid(`the line "${line.slice(0, 100)}"`);
    else values[key] = rest[0]!;
  }
  const parsed = facts.safeParse({ ...values });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const key = String(issue?.path[0] ?? '');
    return invalid(key === '' ? 'an unknown fact' : `"${(values[key] ?? '').slice(0, 100)}" as ${key}`);
  }
  return describeFacts(
    parsed.data,
    [...agents].sort(([one], [other]) => one - other).map(([, each]) => each),
  );
}

function describeFacts(told: z.infer<typeof facts>, agents: HostAgent[]): HostFacts {
  const { system, processor, libc = null, home, shell, searchPath, node, linger } = told;
  const colon = node?.lastIndexOf(':') ?? -1;
  // Another program may have this name.
  const svcVersion = /^\d+\.\d+\.\d+[\w.-]*$/.test(told.svcVersion ?? '') ? told.svcVersion : undefined;
  return {
    ...{ system, processor, libc, home, shell, searchPath },
    node: node === undefined ? null : { path: node.slice(0, colon), version: node.slice(colon + 2) },
    git: findVersion(told.git),
    svc: told.svc === undefined || svcVersion === undefined ? null : { path: told.svc, version: svcVersion },
    agents,
    bubblewrap: told.bubblewrap === 'yes',
    sandbox: told.sandbox === 'yes',
    diskFreeBytes: told.freeKilobytes === undefined ? null : told.freeKilobytes * 1024,
    linger: linger === undefined ? null : linger === 'yes',
    cpuCount: told.processors,
    memoryBytes: told.memoryKilobytes * 1024,
  };
}
