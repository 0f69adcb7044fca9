import { hash } from 'node:crypto';
import { isStrongerProfile } from '../../base/guard-profile.ts';
import type { Task } from '../tasks/index.ts';

/** Of the form of `RunInputs`. Another one makes every open approval one that is asked for anew. */
export const INPUTS_VERSION = 1;

/** What a run would be made from, as far as the workers room knows: everything that decides what is executed, and where. */
export interface RunSettings {
  agent: string | null;
  /** The command as it is configured, its placeholders not filled in; null for an agent that there is none of. */
  command: string | null;
  /** The form that svc brings for a prompt too long for an argument. */
  long: string | null;
  transport: 'subprocess' | 'acp' | null;
  auth: 'account' | 'gateway' | null;
  /** Where its model calls go; null for its own login. */
  route: string | null;
  /** What it may do without a person, over the agent client protocol; null for any other transport. */
  permissions: readonly string[] | null;
  /** The guard profile that it would run under. */
  profile: string;
  project: string | null;
  /** Absolute, links followed. */
  folder: string | null;
  inplace: boolean;
  /** The branch that its worktree would be made from, with a detached HEAD the commit; null outside of a repository. */
  base: string | null;
  /** Names what its project runs and copies before and after; null for an unknown project. */
  setup: string | null;
  /** The ended session that it goes on with. */
  continues: string | null;
}

/** The parts that its prompt is put together from. Long ones as their SHA-256: a prompt is kept once. */
export interface PromptInputs {
  title: string;
  prompt: string;
  context: string | null;
  criteria: string | null;
  ledger: string | null;
}

/** What an approval is bound to: raw values, and no sentence of ours, which may be worded anew. */
export type RunInputs = RunSettings & PromptInputs;

/** One of them that is not what it was. */
export interface InputChange {
  input: keyof RunInputs;
  before: RunInputs[keyof RunInputs];
  after: RunInputs[keyof RunInputs];
}

const digest = (text: string): string => `sha256:${hash('sha256', text)}`;

export const promptInputs = ({
  title,
  body,
  context,
  acceptanceCriteria,
  ledger,
}: Pick<Task, 'title' | 'body' | 'context' | 'acceptanceCriteria' | 'ledger'>): PromptInputs => ({
  title,
  prompt: digest(body),
  context: context === null ? null : digest(context),
  criteria: acceptanceCriteria.length === 0 ? null : digest(JSON.stringify(acceptanceCriteria)),
  ledger,
});

/** As JSON, in one order whatever order they were put together in. */
export const inputsText = (inputs: RunInputs): string =>
  // Written out: every signed task passes here, and sorting its names would cost more than all the rest.
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
    permissions: inputs.permissions,
    profile: inputs.profile,
    project: inputs.project,
    prompt: inputs.prompt,
    route: inputs.route,
    setup: inputs.setup,
    title: inputs.title,
    transport: inputs.transport,
  } satisfies RunInputs);

/** SHA-256, hex, of the inputs, as `inputsText` has them, and their version. */
export const hashOfText = (text: string): string => hash('sha256', `${INPUTS_VERSION}\n${text}`);

export const hashOfInputs = (inputs: RunInputs): string => hashOfText(inputsText(inputs));

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * What differs. A stronger profile does not: the run has it, and nothing that was agreed to is exceeded.
 * @param before null for one that is bound to nothing this version understands: then everything differs
 */
export function changesOf(before: RunInputs | null, after: RunInputs): InputChange[] {
  const names = Object.keys(after) as (keyof RunInputs)[];
  return names.flatMap((input) => {
    const was = before?.[input] ?? null;
    const is = after[input];
    if (before !== null && isSame(was, is)) return [];
    const isRaised =
      input === 'profile' && before !== null && isStrongerProfile(after.profile, before.profile);
    return isRaised ? [] : [{ input, before: was, after: is }];
  });
}

/** Their names for people: `base, command`. No value leaves with them. */
export const changedNames = (changes: readonly InputChange[]): string =>
  changes.map(({ input }) => WORDS[input] ?? input).join(', ');

const WORDS: Partial<Record<keyof RunInputs, string>> = {
  long: 'command for long prompts',
  route: 'gateway route',
  folder: 'project folder',
  base: 'base branch',
  setup: 'setup of the project',
  criteria: 'acceptance criteria',
};
