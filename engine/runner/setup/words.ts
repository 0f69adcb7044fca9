import type { CarriedSetup } from './projects.ts';

/** What is said of it, in the form in which clients have it. */
type Carried = Pick<CarriedSetup, 'id' | 'setup' | 'teardown' | 'consent' | 'problem'> & {
  env_files: readonly string[];
};

/** A line of a script stays a line: what is behind a # on one line would be run on two. */
const lines = (name: string, text: string): [name: string, text: string][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => [index === 0 ? name : '', line]);

/** Exactly what a consent is about: what is run in a new worktree, what before it goes, and what is copied to it. */
export const carriedFacts = ({
  setup,
  teardown,
  env_files,
}: Pick<Carried, 'setup' | 'teardown' | 'env_files'>): [name: string, text: string][] => [
  ...setup.flatMap((each) => lines('setup', each)),
  ...teardown.flatMap((each) => lines('teardown', each)),
  ...env_files.flatMap((each) => lines('copies', each)),
];

/** Whether that will be used; null when there is nothing of it. */
export function consentWords({ id, consent, problem }: Carried): string | null {
  if (consent === 'not_needed') return null;
  if (consent === 'given') return 'given on this machine: this runs as you, outside of any confinement';
  const why = consent === 'changed' ? 'given for something else than this' : 'not given on this machine';
  return `${why}${problem === null ? '' : ` (${problem})`}: nothing of it will be run, and no worker started, until svc project trust ${id}`;
}
