import type { OutputRecogniser } from '../recogniser.ts';
import { builds } from './builds.ts';
import { candidates } from './candidates.ts';
import { containers } from './containers.ts';
import { git } from './git.ts';
import { packageManagers } from './packages.ts';
import { probes } from './probes.ts';
import { progress } from './progress.ts';
import { reports, servers } from './servers.ts';
import { statusTables } from './status-tables.ts';
import { testRunners } from './test-runners.ts';
import { traces } from './traces.ts';

/** All recognisers in the order of attempts: the first that matches a line takes it. */
export const RECOGNISERS: readonly OutputRecogniser[] = [
  ...testRunners,
  ...packageManagers,
  ...containers,
  statusTables,
  git,
  candidates,
  ...builds,
  ...probes,
  ...progress,
  servers,
  reports,
  traces,
];
