import type { ProjectSetup } from './projects.ts';

/** A project's setup in the form that clients have. */
type ShownSetup = Pick<ProjectSetup, 'id' | 'setup' | 'teardown' | 'run' | 'consent' | 'problem'> & {
  env_files: readonly string[];
};

/** Keeps a script's lines apart: text after a # on one line would be run on two. */
const splitScript = (name: string, text: string): [name: string, text: string][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => [index === 0 ? name : '', line]);

/**
 * Lists exactly what a consent covers: commands that run in a new worktree, commands before it is removed, files
 * copied into it, and commands that a person starts in it.
 */
export const listSetupFacts = ({
  setup,
  teardown,
  env_files,
  run,
}: Pick<ShownSetup, 'setup' | 'teardown' | 'env_files' | 'run'>): [name: string, text: string][] => [
  ...setup.flatMap((each) => splitScript('setup', each)),
  ...teardown.flatMap((each) => splitScript('teardown', each)),
  ...env_files.flatMap((each) => splitScript('copies', each)),
  ...run.flatMap(({ name, command }) => splitScript(`run ${name}`, command)),
];

/** Describes whether the setup will be used; null if there is none. */
export function describeConsent({ id, consent, problem }: ShownSetup): string | null {
  if (consent === 'not_needed') return null;
  if (consent === 'given') return 'given on this machine: this runs as you, without confinement';
  const why = consent === 'changed' ? 'given for different content' : 'not given on this machine';
  return `${why}${problem === null ? '' : ` (${problem})`}: none of it runs, and no worker starts, until svc project trust ${id}`;
}
