import { hash } from 'node:crypto';
import { isStrongerProfile } from '../../core/access/guard-profile.ts';
import type { Task } from '../tasks/index.ts';

/** Version of the format of `RunInputs`. With a new one every open approval is requested again. */
export const INPUTS_VERSION = 1;

/** The settings of a run that the dispatcher knows: everything that determines what is executed, and where. */
export interface RunSettings {
  agent: string | null;
  /** The configured command, with its placeholders not filled in; null for an unknown agent. */
  command: string | null;
  /** The built-in command for a prompt too long for an argument. */
  long: string | null;
  transport: 'subprocess' | 'acp' | null;
  auth: 'account' | 'gateway' | null;
  /** The destination of its model calls; null for its own login. */
  route: string | null;
  /** Permissions without a person, over the agent client protocol; null for any other transport. */
  permissions: readonly string[] | null;
  /** The guard profile that it would run under. */
  profile: string;
  project: string | null;
  /** Absolute, links followed. */
  folder: string | null;
  inplace: boolean;
  /** The base branch of its worktree, with a detached HEAD the commit; null outside of a repository. */
  base: string | null;
  /** Digest of its project's setup and teardown; null for an unknown project. */
  setup: string | null;
  /** The ended session that it continues. */
  continues: string | null;
  /** For a race: all of its agents, in order. Left out for other runs. */
  race?: readonly AgentSettings[] | undefined;
  /** The pool of machines that it may run on. Left out for this machine. */
  pool?: string | undefined;
  /** The name of the one machine that it may run on. Left out for any of its pool. */
  machine?: string | undefined;
}

/** The command of one agent. */
export type AgentSettings = Pick<
  RunSettings,
  'agent' | 'command' | 'long' | 'transport' | 'auth' | 'route' | 'permissions'
>;

/** The parts of a prompt. Long ones as their SHA-256, so that a prompt is stored only once. */
export interface PromptInputs {
  title: string;
  prompt: string;
  context: string | null;
  criteria: string | null;
  ledger: string | null;
}

/** The inputs that an approval is bound to: raw values, without our own texts, whose wording may change. */
export type RunInputs = RunSettings & PromptInputs;

/** An input that has changed. */
export interface InputChange {
  input: keyof RunInputs;
  before: RunInputs[keyof RunInputs];
  after: RunInputs[keyof RunInputs];
}

const hashLongText = (text: string): string => `sha256:${hash('sha256', text)}`;

export const readPromptInputs = ({
  title,
  body,
  context,
  acceptanceCriteria,
  ledger,
}: Pick<Task, 'title' | 'body' | 'context' | 'acceptanceCriteria' | 'ledger'>): PromptInputs => ({
  title,
  prompt: hashLongText(body),
  context: context === null ? null : hashLongText(context),
  criteria: acceptanceCriteria.length === 0 ? null : hashLongText(JSON.stringify(acceptanceCriteria)),
  ledger,
});

/** The inputs as JSON, in a fixed order. */
export const serializeInputs = (inputs: RunInputs): string =>
  // `race`, `pool` and `machine` only if there is one: the hash of other runs must not change.
  // Written out, because sorting the names would cost every signed task more than everything else here.
  JSON.stringify({
    agent: inputs.agent,
    auth: inputs.auth,
    base: inputs.base,
    command: inputs.command,
    context: inputs.context,
    continues: inputs.continues,
    criteria: inputs.criteria,
    folder: inputs.folder,
    inplace: inputs.inplace,
    ledger: inputs.ledger,
    long: inputs.long,
    machine: inputs.machine,
    permissions: inputs.permissions,
    pool: inputs.pool,
    profile: inputs.profile,
    project: inputs.project,
    prompt: inputs.prompt,
    race: inputs.race,
    route: inputs.route,
    setup: inputs.setup,
    title: inputs.title,
    transport: inputs.transport,
  } satisfies RunInputs);

/** Hashes inputs as written by `serializeInputs`, and their version: SHA-256, hex. */
export const hashSerializedInputs = (text: string): string => hash('sha256', `${INPUTS_VERSION}\n${text}`);

export const hashInputs = (inputs: RunInputs): string => hashSerializedInputs(serializeInputs(inputs));

const isSameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Lists the inputs that differ. A stronger guard profile is not a difference, since it exceeds nothing that was
 * agreed to.
 * @param before null if the decision is bound to nothing that this version understands: then everything differs
 */
export function listInputChanges(before: RunInputs | null, after: RunInputs): InputChange[] {
  const names = Object.keys(after) as (keyof RunInputs)[];
  return names.flatMap((input) => {
    const was = before?.[input] ?? null;
    const is = after[input];
    if (before !== null && isSameValue(was, is)) return [];
    const isRaised =
      input === 'profile' && before !== null && isStrongerProfile(after.profile, before.profile);
    return isRaised ? [] : [{ input, before: was, after: is }];
  });
}

/** Returns the inputs of one agent of a race; the inputs themselves outside a race. */
export function pickRacer(inputs: RunInputs, agent: string): RunInputs {
  const { race, ...rest } = inputs;
  return { ...rest, ...race?.find((each) => each.agent === agent) };
}

/** Names changed inputs for people, such as `base, command`; never their values. */
export const nameChanges = (changes: readonly InputChange[]): string =>
  changes.map(({ input }) => WORDS[input] ?? input).join(', ');

const WORDS: Partial<Record<keyof RunInputs, string>> = {
  long: 'command for long prompts',
  route: 'gateway route',
  folder: 'project folder',
  base: 'base branch',
  setup: 'setup of the project',
  criteria: 'acceptance criteria',
  race: 'agents of the race',
  pool: 'pool of machines',
};
