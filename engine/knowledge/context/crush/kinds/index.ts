import type { Recogniser } from '../recogniser.ts';
import { builds } from './builds.ts';
import { candidates } from './candidates.ts';
import { containers } from './containers.ts';
import { git } from './git.ts';
import { packageManagers } from './packages.ts';
import { progress } from './progress.ts';
import { reports, servers } from './servers.ts';
import { testRunners } from './test-runners.ts';
import { traces } from './traces.ts';

/** Every recogniser in the order in which they are tried: the first that knows a line has it. */
export const RECOGNISERS: readonly Recogniser[] = [
  ...testRunners,
  ...packageManagers,
  ...containers,
  git,
  candidates,
  ...builds,
  ...progress,
  servers,
  reports,
  traces,
];
