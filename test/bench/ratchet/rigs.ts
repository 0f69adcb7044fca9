import { boardRig, runRig } from './board-rig.ts';
import { dashboardRig } from './dashboard-rig.ts';
import { gatewayRig } from './gateway-rig.ts';
import { programRig } from './program-rig.ts';
import { postgresRig, serverRig } from './server-rig.ts';
import { statsRig } from './stats-rig.ts';

/** The rigs, by the name of the process that measures one. */
export const RIGS = {
  board: boardRig,
  runs: runRig,
  programs: programRig,
  dashboard: dashboardRig,
  gateway: gatewayRig,
  server: serverRig,
  postgres: postgresRig,
  stats: statsRig,
};
